// Command wasm is the pin guard as a module: it moves bytes and nothing else. The
// rules are in the package above.
package main

import (
	"github.com/bir-run/bir/sandbox/guards/pinguard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

var _ = guardsdk.Serve(guardsdk.Handlers{Pin: pinguard.Check})

func main() {}
