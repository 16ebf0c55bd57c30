package guard

import (
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Scope says where a module comes from.
type Scope string

// The scopes, in the order of asking.
const (
	ScopeBuiltIn Scope = "builtin"
	ScopeHome    Scope = "home"
	ScopeProject Scope = "project"
)

// State says whether a module can answer. In every state but ready it denies.
type State string

// The states of a module.
const (
	StateLoading  State = "loading"
	StateReady    State = "ready"
	StateChanged  State = "changed"  // its file is not the one that was pinned
	StateRejected State = "rejected" // it is no guard, or not one that may run
)

// Form is one of the two ways to be a guard (DESIGN section 6).
type Form string

// The forms.
const (
	FormReactor Form = "reactor"
	FormCommand Form = "command"
)

// Module describes one guard for people.
type Module struct {
	Name    string          `json:"name"`
	Path    string          `json:"path,omitempty"` // empty for a built-in one
	Scope   Scope           `json:"scope"`
	SHA256  string          `json:"sha256,omitempty"`
	Form    Form            `json:"form,omitempty"`
	Kinds   []guardsdk.Kind `json:"kinds,omitempty"` // the questions it is asked
	Size    int64           `json:"size,omitempty"`  // bytes
	State   State           `json:"state"`
	Problem string          `json:"problem,omitempty"` // why it is not ready, and what to do
	Counts
}

// Codes of denials that the host decides on.
const (
	CodeTrap       = "guard_trap"        // the module broke off
	CodeTimeout    = "guard_timeout"     // it did not answer in time
	CodeMemory     = "guard_memory"      // it asked for more memory than it may have
	CodeBadVerdict = "guard_bad_verdict" // its answer is not a verdict
	CodeNotReady   = "guard_not_ready"   // it is not compiled yet
	CodeChanged    = "guard_changed"     // its file changed since it was first seen
	CodeRejected   = "guard_rejected"    // it cannot run as a guard
	CodeBadRequest = "bad_request"       // the question itself is not well formed
)

// entry is one module as it was seen on disk. It never changes once loaded is
// closed; a file that changes gets a new entry.
type entry struct {
	sighting
	loaded chan struct{} // closed once the fields below are set

	module   Module
	digests  digests
	settings settings
	program  *program // when the state is ready
	pinStamp stamp    // of the pin file that the state was decided by
}

func (e *entry) isLoaded() bool {
	select {
	case <-e.loaded:
		return true
	default:
		return false
	}
}

func (e *entry) describe() Module {
	if e.isLoaded() {
		return e.module
	}
	return Module{Name: e.name, Path: e.path, Scope: e.scope, State: StateLoading, Problem: "it is being compiled"}
}

// refusal is the denial for a module that cannot be asked; ok is false when it can.
func (e *entry) refusal() (verdict guardsdk.Verdict, refused bool) {
	if !e.isLoaded() {
		return guardsdk.Denied(CodeNotReady, "guard "+e.name+" is still being compiled; try again shortly"), true
	}
	switch e.module.State {
	case StateReady:
		return guardsdk.Verdict{}, false
	case StateChanged:
		return guardsdk.Denied(CodeChanged, "guard "+e.name+": "+e.module.Problem), true
	}
	return guardsdk.Denied(CodeRejected, "guard "+e.name+": "+e.module.Problem), true
}
