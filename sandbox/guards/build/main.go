// Command build compiles the built-in guard modules and writes each, compressed,
// beside its source with a sum file that says from what and how. With -check it
// writes nothing and compares instead: exit 0 when the committed modules are what
// this toolchain makes of the source, 1 when not, 3 when they were built by
// another version of Go and so cannot be compared.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/guards"
)

// flags make the module a function of the source and the version of Go alone.
var flags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-buildmode=c-shared"}

// settings take the place of what the caller's environment may say.
var settings = []string{
	"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWASM=", "GOEXPERIMENT=", "GOWORK=off",
}

const (
	exitDiffers    = 1
	exitOtherGo    = 3
	sourceOfGuards = "sandbox/guards"
)

func main() {
	check := flag.Bool("check", false, "compare with the committed modules instead of writing them")
	flag.Parse()
	code, err := run(*check, os.Environ(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "build guards:", err)
	}
	os.Exit(code)
}

// run works from the top of the module, where the go command found this program.
func run(check bool, environ []string, out io.Writer) (int, error) {
	for _, b := range guards.BuiltIns() {
		dir := filepath.Join(sourceOfGuards, b.Dir)
		sumPath := filepath.Join(dir, b.Name+".sum")
		if check {
			if code, err := toolchainMatches(sumPath, out); code != 0 || err != nil {
				return code, err
			}
		}
		module, err := compile("./"+sourceOfGuards+"/"+b.Dir+"/wasm", environ)
		if err != nil {
			return exitDiffers, err
		}
		packed, sum := pack(module), sumOf(module)
		if check {
			if code, err := compare(dir, b.Name, packed, sum, out); code != 0 || err != nil {
				return code, err
			}
			continue
		}
		if err := write(dir, b.Name, packed, sum); err != nil {
			return exitDiffers, err
		}
		fmt.Fprintf(out, "%s: %d bytes, %d compressed\n", b.Name, len(module), len(packed))
	}
	return 0, nil
}

func toolchainMatches(sumPath string, out io.Writer) (int, error) {
	sum, err := os.ReadFile(sumPath)
	if err != nil {
		return exitDiffers, err
	}
	if by := guards.ParseSum(string(sum))["go"]; by != runtime.Version() {
		fmt.Fprintf(out, "built by %s and this is %s: not compared\n", by, runtime.Version())
		return exitOtherGo, nil
	}
	return 0, nil
}

func compile(pkg string, environ []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "bir-guard-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "module.wasm")
	cmd := exec.Command("go", slices.Concat([]string{"build"}, flags, []string{"-o", file, pkg})...)
	cmd.Env = append(slices.Clone(environ), settings...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, output)
	}
	return os.ReadFile(file)
}

func pack(module []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression) // no name and no time in the header
	if err != nil {
		panic(err) // the level is a constant of the package
	}
	_, err = w.Write(module)
	if err != nil || w.Close() != nil {
		panic("a buffer refused a write")
	}
	return out.Bytes()
}

func sumOf(module []byte) []byte {
	digest := sha256.Sum256(module)
	return fmt.Appendf(nil, "sha256 %s\ngo %s\nflags %s\nsettings %s\n", hex.EncodeToString(digest[:]),
		runtime.Version(), strings.Join(flags, " "), strings.Join(settings, " "))
}

func compare(dir, name string, packed, sum []byte, out io.Writer) (int, error) {
	for file, want := range map[string][]byte{".wasm.gz": packed, ".sum": sum} {
		have, err := os.ReadFile(filepath.Join(dir, name+file))
		if err != nil {
			return exitDiffers, err
		}
		if !bytes.Equal(have, want) {
			fmt.Fprintf(out, "%s%s is not what the source gives; run: make guards\n", name, file)
			return exitDiffers, nil
		}
	}
	return 0, nil
}

func write(dir, name string, packed, sum []byte) error {
	if err := os.WriteFile(filepath.Join(dir, name+".wasm.gz"), packed, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".sum"), sum, 0o644)
}
