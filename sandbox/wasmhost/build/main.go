// Command build compiles the evaluator that runs at level wasm and writes it beside
// this folder. With -check it compares instead; package wasmfile/build says how it
// exits.
package main

import (
	"fmt"
	"os"

	"github.com/bir-run/bir/sandbox/internal/wasmfile/build"
)

const dir = "sandbox/wasmhost"

func main() {
	guest := build.Source{Name: "guest", Dir: dir, Package: dir + "/guest", Mode: "default", Target: "guards"}
	code, err := build.Run([]build.Source{guest}, os.Args[1:], os.Environ(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "build the evaluator:", err)
	}
	os.Exit(code)
}
