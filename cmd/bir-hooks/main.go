package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"
)

var version = "dev"

func main() { run(process()) }

// run exits with 0 whatever happens: any other status is an error in the host's eyes,
// and 2 is an order to block.
func run(h hook) {
	endBySignal()
	defer os.Exit(0)
	defer func() { _ = recover() }() // what it would say belongs on no host's screen
	// Whatever may block for ever (a host that does not close our input, or does not
	// read our output) is over before the host loses patience.
	time.AfterFunc(time.Until(h.began.Add(h.patience())), func() { os.Exit(0) })
	answer, err := h.run(os.Stdin)
	if len(answer) > 0 && err == nil {
		err = write(os.Stdout, answer)
	}
	if err != nil && os.Getenv("BIR_HOOKS_DEBUG") == "1" {
		_ = write(os.Stderr, []byte("bir-hooks: "+h.name+": "+err.Error()+"\n"))
	}
}

// endBySignal lets what cannot be recovered, for which Go exits with 2, end by a signal.
func endBySignal() {
	debug.SetTraceback("crash")
	forbidCore()
}

// process is the hook as the command line and the environment have it. These few
// variables are read here, since package env would cost more than all the rest.
func process() hook {
	h := hook{
		home:       home(os.Getenv("BIR_HOME")),
		project:    os.Getenv("CLAUDE_PROJECT_DIR"),
		off:        os.Getenv("BIR_OFF") == "1",
		version:    version,
		began:      time.Now(),
		executable: os.Executable,
		startWait:  startWait,
	}
	if len(os.Args) > 1 {
		h.name = os.Args[1]
	}
	return h
}

// home is the folder of bir's data as package env finds it, or empty.
func home(value string) string {
	if value == "" {
		value = "~/.baseinstrunner"
	}
	if rest, ok := strings.CutPrefix(value, "~"); ok {
		user, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		value = filepath.Join(user, rest)
	}
	path, err := filepath.Abs(value)
	if err != nil {
		return ""
	}
	return path
}
