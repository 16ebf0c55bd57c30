// Package lint reads bodies without running them and says what would fail or
// surprise on a replay, also in branches that the recording never took. It asks the
// sandbox what parses and which globals there are; a body itself is never run.
package lint

import (
	"cmp"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/lint/scope"
)

// Level says how much a finding matters.
type Level string

// The levels, the worst first.
const (
	Error   Level = "error"   // fails whenever it is reached
	Warning Level = "warning" // probably not what was meant
	Info    Level = "info"    // worth knowing
)

// Finding is one thing that lint has to say. Line and Column count from 1 in the
// body as its author wrote it, columns as editors count.
type Finding struct {
	Rule       string `json:"rule"`
	Level      Level  `json:"level"`
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
}

// Subject is a body to lint.
type Subject struct {
	Body   sandbox.Body
	Params []string // of a raw body; the other kinds have their own

	// Keys are those that parameters had in the recording. Of a parameter that is not
	// in it nothing is known.
	Keys map[string][]string
}

// checker holds one body while its rules are applied.
type checker struct {
	subject  Subject
	known    []string // globals
	origin   origin
	function *ast.FunctionLiteral // the body
	names    *scope.Names
	found    []Finding
}

// read makes a checker of a body that parses.
func read(s Subject) (*checker, error) {
	c := &checker{subject: s}
	if err := c.parse(); err != nil {
		return nil, err
	}
	c.names = scope.Resolve(c.function)
	return c, nil
}

// check gives the findings of a body in the order of its text.
func (c *checker) check(globals []string) []Finding {
	c.known = globals
	c.globals()
	c.keys()
	c.clocks()
	c.assignments()
	c.flow()
	c.results()
	c.dependence()
	c.loops()
	c.unused()
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.found
}

// say adds a finding about what stands at a place.
func (c *checker) say(at file.Idx, f Finding) {
	f.Line, f.Column = c.origin.place(at)
	c.found = append(c.found, f)
}

// has tells whether a rule has found something.
func (c *checker) has(rules ...string) bool {
	return slices.ContainsFunc(c.found, func(f Finding) bool { return slices.Contains(rules, f.Rule) })
}

// parameters are the names that the body's function is called with.
func (s Subject) parameters() []string {
	switch s.Body.Kind {
	case sandbox.KindParams:
		return []string{"params"}
	case sandbox.KindToolOutput:
		return []string{"toolOutput", "params", "respParams"}
	case sandbox.KindToolInput, sandbox.KindResponseParams:
		return []string{"params", "respParams"}
	}
	return s.Params
}
