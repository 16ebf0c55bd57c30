// Package tree judges the shape of the source: which folder may import which,
// how long a function or file may get, what every package and binary must have or
// must not link. It parses the files itself, since a test that asks the go command
// is cached as passing after an import changes. The rules are in its tests.
package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Module is the module's import path.
const Module = "github.com/bir-run/bir"

// File is one parsed Go file of the tree.
type File struct {
	Path    string // slash-separated, from the top of the tree
	Test    bool
	AST     *ast.File
	Fset    *token.FileSet
	Lines   int
	Imports []string
}

// Dir is the folder of the file, which is also its package's import path below
// Module.
func (f *File) Dir() string { return filepath.ToSlash(filepath.Dir(f.Path)) }

// Load parses every Go file below root, but those in testdata, node_modules,
// bin and dot folders.
func Load(root string) ([]*File, error) {
	var files []*File
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(d.Name()) && path != root {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		f, err := parse(root, path)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

func skipped(dir string) bool {
	return dir == "testdata" || dir == "node_modules" || dir == "bin" || strings.HasPrefix(dir, ".")
}

func parse(root, path string) (*File, error) {
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, path, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	f := &File{
		Path:  filepath.ToSlash(rel),
		Test:  strings.HasSuffix(path, "_test.go"),
		AST:   parsed,
		Fset:  fset,
		Lines: strings.Count(string(src), "\n"),
	}
	for _, imp := range parsed.Imports {
		f.Imports = append(f.Imports, strings.Trim(imp.Path.Value, `"`))
	}
	return f, nil
}
