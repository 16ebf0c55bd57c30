// Command build compiles the built-in guard modules and writes each beside its
// source. With -check it compares instead; package wasmfile/build says how it
// exits.
package main

import (
	"fmt"
	"os"

	"github.com/bir-run/bir/sandbox/guards"
	"github.com/bir-run/bir/sandbox/internal/wasmfile/build"
)

const sourceOfGuards = "sandbox/guards"

func main() {
	var sources []build.Source
	for _, b := range guards.BuiltIns() {
		dir := sourceOfGuards + "/" + b.Dir
		sources = append(sources, build.Source{Name: b.Name, Dir: dir, Package: dir + "/wasm", Mode: "c-shared", Target: "guards"})
	}
	code, err := build.Run(sources, os.Args[1:], os.Environ(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "build guards:", err)
	}
	os.Exit(code)
}
