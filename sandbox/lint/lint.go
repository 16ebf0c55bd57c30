// Package lint reads bodies without running them and says what would fail or
// surprise on a replay, also in branches that the recording never took. It judges
// text that the sandbox has already found to parse; it never evaluates any.
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

// Subject is a body and what it may name.
type Subject struct {
	Body    sandbox.Body
	Params  []string // of a raw body; the other kinds have their own
	Globals []string // what the sandbox really has
}

// checker holds one body while its rules are applied.
type checker struct {
	subject  Subject
	origin   origin
	function *ast.FunctionLiteral // the body
	names    *scope.Names
	found    []Finding
}

// Check gives the findings of a body in the order of its text.
func Check(s Subject) []Finding {
	c := &checker{subject: s}
	if err := c.parse(); err != nil {
		c.found = append(c.found, Finding{
			Rule: "unread", Level: Info, Line: 1, Column: 1,
			Message:    "nothing was checked: lint does not know the syntax of this body (" + err.Error() + ")",
			Suggestion: "the body runs all the same; plain loops and functions can be checked",
		})
		return c.found
	}
	c.names = scope.Resolve(c.function)
	c.globals()
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
