package tree

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// arrows is the table of DESIGN section 2: the folders that each folder may
// import. A folder always sees itself; cmd and conformance see everything.
var arrows = map[string][]string{
	"sandbox":  nil,
	"engine":   {"sandbox"},
	"recorder": nil, // its service has more, below
	"control":  {"engine", "recorder", "sandbox"},
	"relay":    {"recorder", "control/client"},
}

// widened are packages that may import more than their folder.
var widened = map[string][]string{
	"recorder/service": {"engine", "sandbox"},
	"recorder/store":   {"engine"},
}

// narrowed are folders of which another folder may import only these packages.
var narrowed = map[string]map[string][]string{
	"relay": {"recorder": {"recorder"}},
}

// soleImporters are libraries that only one package may import.
var soleImporters = map[string]string{
	"github.com/dop251/goja":          "sandbox/worker",
	"github.com/tetratelabs/wazero":   "sandbox/guard",
	"modernc.org/sqlite":              "recorder/store/sqlite",
	"github.com/jackc/pgx/v5":         "recorder/store/postgres",
	"github.com/evanw/esbuild":        "sandbox/worker",
	"github.com/spf13/cobra":          "cmd",
	"github.com/modelcontextprotocol": "cmd",
}

// alsoImporters may import a part of such a library, too. Reading a body's syntax
// tree runs nothing, so what lints bodies need not be the evaluator. The evaluator at
// level wasm shares nothing with guards but the machine that both run on.
var alsoImporters = map[string]string{
	"github.com/dop251/goja/ast":    "sandbox/lint",
	"github.com/dop251/goja/file":   "sandbox/lint",
	"github.com/dop251/goja/parser": "sandbox/lint",
	"github.com/dop251/goja/token":  "sandbox/lint",

	"github.com/tetratelabs/wazero":                                "sandbox/wasmhost",
	"github.com/tetratelabs/wazero/api":                            "sandbox/wasmhost",
	"github.com/tetratelabs/wazero/experimental":                   "sandbox/wasmhost",
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1": "sandbox/wasmhost",
	"github.com/tetratelabs/wazero/sys":                            "sandbox/wasmhost",
}

// source is read once for all tests, which change nothing in it.
var source = sync.OnceValues(func() ([]*File, error) { return Load("../..") })

func load(t *testing.T) []*File {
	t.Helper()
	files, err := source()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d Go files found: the walk is broken", len(files))
	}
	return files
}

func TestImportsFollowTheArrows(t *testing.T) {
	for _, f := range load(t) {
		for _, imp := range f.Imports {
			to, ours := strings.CutPrefix(imp, Module+"/")
			if ours && !allowed(f, to) {
				t.Errorf("%s imports %s: no such arrow", f.Path, to)
			}
		}
	}
}

func allowed(f *File, to string) bool {
	from := f.Dir()
	top := topOf(from)
	if top == "cmd" || top == "conformance" || topOf(to) == top {
		return true
	}
	for pkg, more := range widened {
		if under(from, pkg) && slices.Contains(more, topOf(to)) {
			return true
		}
	}
	if only, ok := narrowed[top][topOf(to)]; ok {
		return slices.Contains(only, to)
	}
	return slices.ContainsFunc(arrows[top], func(arrow string) bool { return under(to, arrow) })
}

func TestLibrariesStayBehindTheirPackage(t *testing.T) {
	for _, f := range load(t) {
		if topOf(f.Dir()) == "conformance" {
			continue
		}
		for _, imp := range f.Imports {
			for lib, owner := range soleImporters {
				also, shared := alsoImporters[imp]
				if under(imp, lib) && !under(f.Dir(), owner) && !(shared && under(f.Dir(), also)) {
					t.Errorf("%s imports %s, which belongs to %s alone", f.Path, imp, owner)
				}
			}
		}
	}
}

// TestFoldersImportOneWay holds that inside a folder, a parent imports its child
// or the child its parent, never both.
func TestFoldersImportOneWay(t *testing.T) {
	edges := map[[2]string]string{}
	for _, f := range load(t) {
		for _, imp := range f.Imports {
			if to, ours := strings.CutPrefix(imp, Module+"/"); ours && !f.Test {
				edges[[2]string{f.Dir(), to}] = f.Path
			}
		}
	}
	for edge, path := range edges {
		if back, ok := edges[[2]string{edge[1], edge[0]}]; ok {
			t.Errorf("%s and %s import each other's packages", path, back)
		}
	}
}

func topOf(path string) string {
	top, _, _ := strings.Cut(path, "/")
	return top
}

func under(path, parent string) bool {
	return path == parent || strings.HasPrefix(path, parent+"/")
}
