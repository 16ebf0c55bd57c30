// Command guest is the evaluator worker as a WebAssembly module: the same frames
// over the standard input and output that its host makes up for it. The build
// command beside it compiles it for wasip1.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/bir-run/bir/sandbox/confine"
	"github.com/bir-run/bir/sandbox/wire"
	"github.com/bir-run/bir/sandbox/worker"
	_ "time/tzdata" // there are no files here
)

func main() {
	err := worker.Serve(os.Stdin, os.Stdout, confine.Process)
	switch {
	case errors.Is(err, worker.ErrMemory):
		os.Exit(wire.ExitMemory)
	case err != nil:
		fmt.Fprintf(os.Stderr, "bir-sandbox: %v\n", err)
		os.Exit(1)
	}
}
