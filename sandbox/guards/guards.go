// Package guards carries the built-in guard modules, compressed, each beside the
// source it was built from and the sum file that says how. The modules are written
// by the build command below this folder and never by hand.
package guards

import (
	"embed"
	"fmt"

	"github.com/bir-run/bir/sandbox/guardsdk"
	"github.com/bir-run/bir/sandbox/internal/wasmfile"
)

//go:embed injectionguard/injection-guard.wasm.gz injectionguard/injection-guard.sum
//go:embed pinguard/pin-guard.wasm.gz pinguard/pin-guard.sum
var files embed.FS

// BuiltIn is a module that every bir carries.
type BuiltIn struct {
	Name  string
	Dir   string          // of its source, below this folder; its main package is in Dir/wasm
	Kinds []guardsdk.Kind // the questions it answers
}

// BuiltIns lists the modules in the order of asking.
func BuiltIns() []BuiltIn {
	return []BuiltIn{
		{Name: "pin-guard", Dir: "pinguard", Kinds: []guardsdk.Kind{guardsdk.KindPin}},
		{Name: "injection-guard", Dir: "injectionguard", Kinds: []guardsdk.Kind{guardsdk.KindValue}},
	}
}

// Find gives the module of that name.
func Find(name string) (BuiltIn, bool) {
	for _, b := range BuiltIns() {
		if b.Name == name {
			return b, true
		}
	}
	return BuiltIn{}, false
}

// Module unpacks the module and holds it against its sum file.
func (b BuiltIn) Module() ([]byte, error) {
	packed, err := files.ReadFile(b.Dir + "/" + b.Name + ".wasm.gz")
	if err != nil {
		return nil, err
	}
	sum, err := files.ReadFile(b.Dir + "/" + b.Name + ".sum")
	if err != nil {
		return nil, err
	}
	module, err := wasmfile.Unpack(packed, sum)
	if err != nil {
		return nil, fmt.Errorf("the built-in %s: %w", b.Name, err)
	}
	return module, nil
}
