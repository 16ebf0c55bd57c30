//go:build wasip1

package worker

import "github.com/dop251/goja/ast"

// lower takes what the host of this guest has rewritten: the library that does it
// would double the module.
func (p *program) lower(string, string) (*ast.Program, error) {
	if p.lowered == nil {
		return nil, &syntaxError{message: "the host did not lower this body"}
	}
	return p.takeLowered(p.lowered)
}
