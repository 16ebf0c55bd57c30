// Package guards carries the built-in guard modules, compressed, each beside the
// source it was built from and the sum file that says how. The modules are written
// by the build command below this folder and never by hand.
package guards

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bir-run/bir/sandbox/guardsdk"
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
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", b.Name, err)
	}
	module, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", b.Name, err)
	}
	digest := sha256.Sum256(module)
	if ParseSum(string(sum))["sha256"] != hex.EncodeToString(digest[:]) {
		return nil, errors.New("the built-in module " + b.Name + " does not have the digest of its sum file")
	}
	return module, nil
}

// ParseSum reads a sum file: a name and the rest of the line, for each line.
func ParseSum(text string) map[string]string {
	sum := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		sum[name] = strings.TrimSpace(value)
	}
	return sum
}
