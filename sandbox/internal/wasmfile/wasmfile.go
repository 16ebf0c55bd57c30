// Package wasmfile reads WebAssembly modules that are kept in the source tree:
// compressed, each beside a sum file that says from what and how it was built. Its
// child builds them; nobody edits them by hand.
package wasmfile

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The endings of the two files of a module.
const (
	PackedExt = ".wasm.gz"
	SumExt    = ".sum"
)

// Unpack gives the module, held against its sum.
func Unpack(packed, sum []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	module, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	if ParseSum(sum)["sha256"] != Digest(module) {
		return nil, errors.New("the module does not have the digest of its sum file")
	}
	return module, nil
}

// Digest is what a sum file has of a module.
func Digest(module []byte) string {
	digest := sha256.Sum256(module)
	return hex.EncodeToString(digest[:])
}

// ParseSum reads a sum file: a name and the rest of the line, for each line.
func ParseSum(text []byte) map[string]string {
	sum := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		sum[name] = strings.TrimSpace(value)
	}
	return sum
}
