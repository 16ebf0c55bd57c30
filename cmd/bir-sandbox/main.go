// Command bir-sandbox is the evaluator worker: a sandbox.Pool starts it, hands it
// bodies on standard input and reads their results from standard output. It is
// wiring only; what runs a body is in sandbox/worker.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/bir-run/bir/sandbox/confine"
	"github.com/bir-run/bir/sandbox/wire"
	"github.com/bir-run/bir/sandbox/worker"
	_ "time/tzdata" // a confined process opens no zone files, and zones must not differ by machine
)

const about = `bir-sandbox evaluates the JavaScript bodies of bir's scenarios. bir starts it and
talks to it over standard input and output; there is nothing to do here by hand.
To try a body, run: bir logic test --help`

var version = "dev"

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		fmt.Printf("bir-sandbox %s (protocol %d)\n", version, wire.Version)
		return
	}
	if len(os.Args) > 1 || isTerminal(os.Stdin) {
		fmt.Fprintln(os.Stderr, about)
		os.Exit(2)
	}
	err := worker.Serve(os.Stdin, os.Stdout, confine.Process)
	switch {
	case errors.Is(err, worker.ErrMemory):
		os.Exit(wire.ExitMemory)
	case err != nil:
		fmt.Fprintf(os.Stderr, "bir-sandbox: %v\n", err)
		os.Exit(1)
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
