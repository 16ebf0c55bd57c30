// Package sandbox runs the JavaScript bodies of scenarios in isolated, capped
// evaluator processes. A caller sees one small API, Pool.Eval. No body ever runs
// in the caller's process, and nothing survives between two evaluations.
package sandbox

import (
	"encoding/json"
	"fmt"
	"time"
)

// Kind says which parameters a body has and what it must return.
type Kind string

// The kinds of body (DESIGN section 5). Raw serves corpora: its parameters are
// Args.Raw in order, any JSON value may come back, a settled promise is awaited.
const (
	KindParams         Kind = "params"         // (params) -> object
	KindToolInput      Kind = "toolInput"      // (params, respParams) -> object
	KindToolOutput     Kind = "toolOutput"     // (toolOutput, params, respParams) -> object
	KindResponseParams Kind = "responseParams" // (params, respParams) -> object
	KindRaw            Kind = "raw"
)

// Body is the inside of a JavaScript function.
type Body struct {
	Kind   Kind
	Source string
	// Unproved is of a body that somebody wrote, forced or brought from elsewhere and
	// that has not reproduced a recording: level auto runs it at level wasm.
	Unproved bool
	// Timeout is of its evaluation, where it is not the pool's.
	Timeout time.Duration
}

// Args are the values that a body is called with, as JSON text. An empty Params
// or RespParams stands for {}.
type Args struct {
	Params     json.RawMessage
	RespParams json.RawMessage
	ToolOutput string // the text itself, not JSON of it
	Raw        []Arg  // KindRaw only
	World      World
}

// Arg is one named parameter of a raw body.
type Arg struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// World is what a body may see of the world besides its arguments. The same
// world and arguments give the same result on every machine.
type World struct {
	Now  time.Time // what Date reads; zero: 2000-01-01T00:00:00Z
	Zone string    // IANA name; empty: UTC
	Seed uint64    // of Math.random
}

// Result is what an evaluation gave.
type Result struct {
	Value       json.RawMessage
	Console     []string      // one entry a console call
	Duration    time.Duration // inside the evaluator
	MemoryBytes int64         // the evaluator's heap growth; a reading, not a promise
	Level       Level         // where it ran; empty when it did not
}

// ErrorType sorts what can go wrong with a body.
type ErrorType string

// The types of Error (DESIGN section 5).
const (
	TypeTimeout ErrorType = "timeout" // ran past its time and was stopped
	TypeMemory  ErrorType = "memory"  // went over its memory and was stopped
	TypeSyntax  ErrorType = "syntax"  // does not parse
	TypeThrow   ErrorType = "throw"   // threw
	TypeResult  ErrorType = "result"  // returned what its kind may not
	TypeSandbox ErrorType = "sandbox" // the evaluator could not be used; not the body's fault
)

// Error is why a body gave no value. Line and Column count from 1 in the body as
// its author wrote it; 0 means unknown.
type Error struct {
	Type    ErrorType `json:"type"`
	Message string    `json:"message"`
	Line    int       `json:"line,omitempty"`
	Column  int       `json:"column,omitempty"`
	Console []string  `json:"-"` // what the body printed before it failed
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s (line %d, column %d)", e.Message, e.Line, e.Column)
	}
	return e.Message
}
