package worker

import (
	"reflect"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// find walks any part of a syntax tree to the first node that look finds, and gives
// its place, 0 for none. look tells to skip a node's parts. goja's tree has no
// walker of its own.
func find(v reflect.Value, look func(node any) (at file.Idx, skip bool)) file.Idx {
	switch v.Kind() {
	case reflect.Interface:
		return find(v.Elem(), look)
	case reflect.Pointer:
		return findNode(v, look)
	case reflect.Slice:
		for i := range v.Len() {
			if at := find(v.Index(i), look); at != 0 {
				return at
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if at := find(v.Field(i), look); at != 0 {
				return at
			}
		}
	}
	return 0
}

func findNode(v reflect.Value, look func(node any) (at file.Idx, skip bool)) file.Idx {
	if v.IsNil() || !v.CanInterface() {
		return 0
	}
	node := v.Interface()
	if _, whole := node.(*file.File); whole {
		return 0
	}
	if at, skip := look(node); at != 0 || skip {
		return at
	}
	return find(v.Elem(), look)
}

// blockFunction is the place of a function declared in a block. In Node the whole
// function around sees it; in goja only the block does.
func blockFunction(function *ast.FunctionLiteral) file.Idx {
	bodies := map[*ast.BlockStatement]bool{function.Body: true}
	return find(reflect.ValueOf(function.Body), func(node any) (file.Idx, bool) {
		switch n := node.(type) {
		case *ast.FunctionLiteral:
			bodies[n.Body] = true
		case *ast.ArrowFunctionLiteral:
			if body, ok := n.Body.(*ast.BlockStatement); ok {
				bodies[body] = true
			}
		case *ast.BlockStatement:
			if !bodies[n] {
				return declaredIn(n.List), false
			}
		case *ast.CaseStatement:
			return declaredIn(n.Consequent), false
		}
		return 0, false
	})
}

func declaredIn(block []ast.Statement) file.Idx {
	for _, statement := range block {
		if f, ok := statement.(*ast.FunctionDeclaration); ok {
			return f.Idx0()
		}
	}
	return 0
}
