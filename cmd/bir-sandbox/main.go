// Command bir-sandbox is the evaluator worker: a sandbox.Pool starts it, hands it
// bodies on standard input and reads their results from standard output. It is
// wiring only; what runs a body is in sandbox/worker, and at level wasm in
// sandbox/wasmhost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/bir-run/bir/sandbox/confine"
	"github.com/bir-run/bir/sandbox/wasmhost"
	"github.com/bir-run/bir/sandbox/wire"
	"github.com/bir-run/bir/sandbox/worker"
	_ "time/tzdata" // a confined process opens no zone files, and zones must not differ by machine
)

const about = `bir-sandbox evaluates the JavaScript bodies of bir's scenarios. bir starts it and
talks to it over standard input and output; there is nothing to do here by hand.
To try a body, run: bir logic test --help`

var version = "dev"

// exitUsage is how a call by hand ends.
const exitUsage = 2

func main() {
	set := flag.NewFlagSet("bir-sandbox", flag.ContinueOnError)
	set.Usage = func() { fmt.Fprintln(os.Stderr, about) }
	level := set.String("level", "process", "process, or wasm inside it")
	cache := set.String("cache", "", "folder of what is compiled for level wasm")
	compile := set.Bool("compile", false, "make level wasm ready and end")
	show := set.Bool("version", false, "print the version and end")
	if set.Parse(os.Args[1:]) != nil {
		os.Exit(exitUsage)
	}
	wasm := *level == "wasm" && *cache != ""
	switch {
	case *show:
		fmt.Printf("bir-sandbox %s (protocol %d)\n", version, wire.Version)
	case *compile && wasm:
		exit(wasmhost.Compile(context.Background(), *cache))
	case set.NArg() > 0 || *compile || isTerminal(os.Stdin) || !wasm && *level != "process":
		set.Usage()
		os.Exit(exitUsage)
	case wasm:
		exit(wasmhost.Serve(context.Background(), *cache, os.Stdin, os.Stdout, os.Stderr, confine.Process))
	default:
		exit(worker.Serve(os.Stdin, os.Stdout, confine.Process))
	}
}

// exit ends the process if err is one, in the words and the code that the pool reads.
func exit(err error) {
	if err == nil {
		return
	}
	var guest *wasmhost.GuestExit
	code := 1
	switch {
	case errors.Is(err, worker.ErrMemory):
		os.Exit(wire.ExitMemory)
	case errors.Is(err, wasmhost.ErrNotCompiled):
		code = wire.ExitNotCompiled
	case errors.As(err, &guest) && guest.Reason == "":
		os.Exit(guest.Code) // it has said why
	case errors.As(err, &guest):
		code = guest.Code
	}
	fmt.Fprintf(os.Stderr, "bir-sandbox: %v\n", err)
	os.Exit(code)
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
