package tree

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

const (
	maxFunctionLines = 70
	maxFileLines     = 450
)

func TestFunctionsAreShort(t *testing.T) {
	for _, f := range load(t) {
		for _, decl := range f.AST.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := f.Fset.Position(fn.End()).Line - f.Fset.Position(fn.Pos()).Line + 1
			if lines > maxFunctionLines && !strings.Contains(fn.Doc.Text(), "one piece") {
				t.Errorf("%s: %s has %d lines (limit %d); split it, or say in its comment why it is one piece",
					f.Path, fn.Name.Name, lines, maxFunctionLines)
			}
		}
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range load(t) {
		if f.Lines > maxFileLines {
			t.Errorf("%s has %d lines (limit %d)", f.Path, f.Lines, maxFileLines)
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	comments := map[string][]string{}
	for _, f := range load(t) {
		if f.Test {
			continue
		}
		if _, ok := comments[f.Dir()]; !ok {
			comments[f.Dir()] = nil
		}
		if f.AST.Doc != nil && f.AST.Doc.Text() != "" {
			comments[f.Dir()] = append(comments[f.Dir()], f.Path)
		}
	}
	for dir, paths := range comments {
		if len(paths) != 1 {
			t.Errorf("package %s has %d package comments %v, want one", dir, len(paths), paths)
		}
	}
}

// processState is what only cmd/internal/env and the files named main.go touch
// (STYLE section 7).
var processState = map[string]bool{
	"Args": true, "Stdin": true, "Stdout": true, "Stderr": true, "Exit": true,
	"Getenv": true, "LookupEnv": true, "Environ": true, "ExpandEnv": true,
	"Setenv": true, "Unsetenv": true, "Clearenv": true,
}

func TestOnlyEnvAndMainTouchTheProcess(t *testing.T) {
	for _, f := range load(t) {
		if f.Test || f.Dir() == "cmd/internal/env" || strings.HasSuffix(f.Path, "/main.go") {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "os" && pkg.Obj == nil && processState[sel.Sel.Name] {
				t.Errorf("%s: os.%s outside cmd/internal/env and main.go", at(f, sel), sel.Sel.Name)
			}
			return true
		})
	}
}

func TestNoInit(t *testing.T) {
	for _, f := range load(t) {
		for _, decl := range f.AST.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init function", at(f, fn))
			}
		}
	}
}

func at(f *File, n ast.Node) token.Position { return f.Fset.Position(n.Pos()) }
