// Package guardsdk is for writing guards in Go: the request and the verdict of
// ABI 1, and the exports that make a wasip1 program a guard. The host reads the
// same types, so there is one definition of the wire. It imports nothing of bir
// and nothing heavy: it is compiled into every Go guard.
package guardsdk

import "encoding/json"

// ABI is the version of the request and verdict documented here.
const ABI = 1

// Kind is the question that a guard is asked (DESIGN section 6).
type Kind string

// The kinds of question.
const (
	KindPin   Kind = "pin"   // may this call of the model be replaced by the step?
	KindValue Kind = "value" // is this derived value safe where it will be used?
	KindStep  Kind = "step"  // may this call be sent?
)

// Risk says what the plan does with its values.
type Risk string

// The risks. A plan runs values when some step's input is run (a shell, a query),
// writes them when a step's input goes into a file, and does none otherwise.
const (
	RiskRuns   Risk = "runs"
	RiskWrites Risk = "writes"
	RiskNone   Risk = "none"
)

// Request is one question. Fields that a kind does not use are absent; a guard
// ignores fields it does not know.
//
// The host writes the fields in this order, without space between tokens, and never
// a key twice. What only bir can say comes first, so a guard without a JSON parser
// may look for the first place where `"plan":{` or `"tool":"` stands: inside a string
// the quotes would have backslashes, and what others wrote as JSON comes later.
type Request struct {
	ABI  int  `json:"abi"`
	Kind Kind `json:"kind"`
	Plan Plan `json:"plan"`

	// step, and pin's step side
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"` // the upstream's own name

	// value
	Parameter string   `json:"parameter,omitempty"` // the parameter's name
	Tools     []string `json:"tools,omitempty"`     // qualified names of the plan's tools, in order

	Strings []String `json:"strings,omitempty"` // every string value below but config's, flat

	Value     json.RawMessage `json:"value,omitempty"`     // value: derived for this turn
	Sample    json.RawMessage `json:"sample,omitempty"`    // value: as recorded
	Args      json.RawMessage `json:"args,omitempty"`      // step and pin: exactly what will be sent
	ModelArgs json.RawMessage `json:"modelArgs,omitempty"` // pin: what the model wrote

	Config json.RawMessage `json:"config,omitempty"` // the module's own, from its NAME.json
}

// Plan is what the guard may know of the plan. A guard keeps no state between two
// calls, so what it would have to remember or look up is told here.
type Plan struct {
	ScenarioID string `json:"scenarioId,omitempty"`
	Risk       Risk   `json:"risk,omitempty"`
	StepIndex  int    `json:"stepIndex,omitempty"` // from 1; 0 at arm time
	StepCount  int    `json:"stepCount,omitempty"`
	ToolCalls  int    `json:"toolCalls,omitempty"` // step: calls of this tool that the plan has sent before
	Now        string `json:"now,omitempty"`       // the plan's clock, RFC 3339; absent: it has none
	Dry        bool   `json:"dry,omitempty"`
}

// String is one string value of the request and where it stands, for guards
// without a JSON parser: {"path":"args.path","value":"/data/eu-west"}.
type String struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}

// Verdict is the answer. Guards can only restrict: one deny is enough.
type Verdict struct {
	Allow  bool   `json:"allow"`
	Reason string `json:"reason,omitempty"` // a sentence for people
	Code   string `json:"code,omitempty"`   // stable, for scripts
}

// Allowed is the verdict that lets the request pass.
func Allowed() Verdict { return Verdict{Allow: true} }

// Denied is a verdict that stops the request.
func Denied(code, reason string) Verdict { return Verdict{Code: code, Reason: reason} }
