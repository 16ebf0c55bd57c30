// Package build compiles Go packages to the WebAssembly modules that are kept in
// the tree, so that the same source and version of Go give the same bytes on every
// machine. Each command beside such modules hands it a list.
package build

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/internal/wasmfile"
)

// Source is one module and where it comes from.
type Source struct {
	Name    string // of its files, without their endings
	Dir     string // of its files, from the top of the tree
	Package string // its main package, from the top of the tree
	Mode    string // as in -buildmode
	Target  string // of make, which builds it
}

// flags make the module a function of the source and the version of Go alone.
var flags = []string{"-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid="}

func (s Source) flags() []string { return append(slices.Clone(flags), "-buildmode="+s.Mode) }

// settings take the place of what the caller's environment may say.
var settings = []string{
	"GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOWASM=", "GOEXPERIMENT=", "GOWORK=off",
}

// The exit codes of a check.
const (
	exitDiffers = 1
	exitOtherGo = 3
)

// Run builds the modules and writes them. With the argument -check it writes
// nothing and compares: its code is 0 when the committed modules are what this
// toolchain makes of the source, 1 when not, 3 when they were built by another
// version of Go and so cannot be compared. It works from the top of the tree.
func Run(sources []Source, args, environ []string, out io.Writer) (code int, err error) {
	set := flag.NewFlagSet("build", flag.ContinueOnError)
	set.SetOutput(out)
	check := set.Bool("check", false, "compare with the committed modules instead of writing them")
	if err := set.Parse(args); err != nil {
		return exitDiffers, err
	}
	for _, s := range sources {
		if *check {
			if code, err := s.toolchainMatches(out); code != 0 || err != nil {
				return code, err
			}
		}
		module, err := s.compile(environ)
		if err != nil {
			return exitDiffers, err
		}
		packed, sum := pack(module), s.sumOf(module)
		if *check {
			if code, err := s.compare(packed, sum, out); code != 0 || err != nil {
				return code, err
			}
			continue
		}
		if err := s.write(packed, sum); err != nil {
			return exitDiffers, err
		}
		fmt.Fprintf(out, "%s: %d bytes, %d compressed\n", s.Name, len(module), len(packed))
	}
	return 0, nil
}

func (s Source) file(ext string) string { return filepath.Join(s.Dir, s.Name+ext) }

func (s Source) toolchainMatches(out io.Writer) (int, error) {
	sum, err := os.ReadFile(s.file(wasmfile.SumExt))
	if err != nil {
		return exitDiffers, err
	}
	if by := wasmfile.ParseSum(sum)["go"]; by != runtime.Version() {
		fmt.Fprintf(out, "built by %s and this is %s: not compared\n", by, runtime.Version())
		return exitOtherGo, nil
	}
	return 0, nil
}

func (s Source) compile(environ []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "bir-module-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "module.wasm")
	cmd := exec.Command("go", slices.Concat([]string{"build"}, s.flags(), []string{"-o", file, "./" + s.Package})...)
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

func (s Source) sumOf(module []byte) []byte {
	return fmt.Appendf(nil, "sha256 %s\ngo %s\nflags %s\nsettings %s\n", wasmfile.Digest(module),
		runtime.Version(), strings.Join(s.flags(), " "), strings.Join(settings, " "))
}

func (s Source) compare(packed, sum []byte, out io.Writer) (int, error) {
	for ext, want := range map[string][]byte{wasmfile.PackedExt: packed, wasmfile.SumExt: sum} {
		have, err := os.ReadFile(s.file(ext))
		if err != nil {
			return exitDiffers, err
		}
		if !bytes.Equal(have, want) {
			fmt.Fprintf(out, "%s%s is not what the source gives; run: make %s\n", s.Name, ext, s.Target)
			return exitDiffers, nil
		}
	}
	return 0, nil
}

func (s Source) write(packed, sum []byte) error {
	if err := os.WriteFile(s.file(wasmfile.PackedExt), packed, 0o644); err != nil {
		return err
	}
	return os.WriteFile(s.file(wasmfile.SumExt), sum, 0o644)
}
