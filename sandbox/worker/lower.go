package worker

import (
	"github.com/bir-run/bir/sandbox/wire"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/parser"
)

// takeLowered parses the function as it was rewritten. From here on positions come
// through its map.
func (p *program) takeLowered(lowered *wire.Lowered) (*ast.Program, error) {
	p.lowered, p.author.mapped = lowered, true
	code := string(lowered.Code) + "//# sourceMappingURL=body.map"
	loader := parser.WithSourceMapLoader(func(string) ([]byte, error) { return lowered.Map, nil })
	return parser.ParseFile(nil, sourceName, code, 0, loader)
}

// Lowerer does for a guest what the guest cannot do itself.
type Lowerer struct{ programs *programs }

// NewLowerer makes a Lowerer. It keeps what it did, as an Evaluator does.
func NewLowerer() *Lowerer { return &Lowerer{newPrograms()} }

// Lower adds the rewritten code to a request whose body needs it. A failure is the
// answer to the request: no evaluator would take this body.
func (l *Lowerer) Lower(req *wire.Request) *wire.Failure {
	p, failure := l.programs.compile(req)
	if failure == nil {
		req.Lowered = p.lowered
	}
	return failure
}
