// Command wasm is the injection guard as a module: it moves bytes and nothing
// else. The rules are in the package above.
package main

import (
	"github.com/bir-run/bir/sandbox/guards/injectionguard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

var _ = guardsdk.Serve(guardsdk.Handlers{Value: injectionguard.Check})

func main() {}
