package v8math

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryProductIsRounded finds products that are not converted to float64 before
// they may meet an addition.
func TestEveryProductIsRounded(t *testing.T) {
	fset := token.NewFileSet()
	var files []*ast.File
	names, _ := filepath.Glob("*.go")
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	if _, err := config.Check("v8math", fset, files, &info); err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, product := range unrounded(file, &info) {
			t.Errorf("%v: a product that may be fused", fset.Position(product.Pos()))
		}
	}
}

// unrounded are the products of a file that are neither converted nor a factor, a
// dividend or a divisor themselves.
func unrounded(file *ast.File, info *types.Info) []ast.Node {
	var found []ast.Node
	rounded := map[ast.Expr]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr:
			if function, ok := node.Fun.(*ast.Ident); ok && function.Name == "float64" {
				rounded[ast.Unparen(node.Args[0])] = true
			}
		case *ast.AssignStmt:
			if node.Tok == token.MUL_ASSIGN {
				found = append(found, node)
			}
		case *ast.BinaryExpr:
			if node.Op == token.MUL || node.Op == token.QUO {
				rounded[ast.Unparen(node.X)], rounded[ast.Unparen(node.Y)] = true, true
			}
			of := info.Types[node]
			if node.Op == token.MUL && of.Value == nil && types.Identical(of.Type, types.Typ[types.Float64]) && !rounded[node] {
				found = append(found, node)
			}
		}
		return true
	})
	return found
}
