// Package event is the table of the hook events that bir takes: where each is
// posted, how long the control server may think about it and how long the host waits
// for the hook. The installer, bir-hooks and the control server read the same table.
// It imports the standard library only, for the sake of bir-hooks.
package event

import (
	"slices"
	"time"
)

// Event is one row: a hook event of the host.
type Event struct {
	Name string // as the host spells it, "PreToolUse"
	Path string // route of the control server
	// Answer is how long the control server may take. Past it, it answers {}.
	Answer time.Duration
	// Timeout is how long the host waits for the hook: the user's worst case if the
	// control server hangs. Whole seconds, since the host counts in these.
	Timeout time.Duration
	// Async says that the host need not wait, since no answer could matter. A hook
	// whose answer or whose order matters is never async: the step that one tool's
	// end threads on is read by the next tool's start.
	Async bool
	// Command says that the host never sends the event over HTTP.
	Command bool
	// Told says that the host tells the model when a hook of the event has run, so that
	// none is registered: the model must be sent the same bytes with bir as without.
	// One that is registered by hand is taken all the same.
	Told bool
}

// All lists the events in the order of a turn.
func All() []Event {
	return []Event{
		{Name: "SessionStart", Path: "/session/start", Answer: 2 * time.Second, Timeout: 5 * time.Second, Command: true},
		{Name: "UserPromptSubmit", Path: "/session/prompt", Answer: 7 * time.Second, Timeout: 10 * time.Second},
		{Name: "UserPromptExpansion", Path: "/session/expansion", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "PreToolUse", Path: "/tool/pre", Answer: 12 * time.Second, Timeout: 15 * time.Second},
		{Name: "PermissionRequest", Path: "/tool/permission", Answer: 2 * time.Second, Timeout: 5 * time.Second, Async: true},
		{Name: "PermissionDenied", Path: "/tool/denied", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "PostToolUse", Path: "/tool/post", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "PostToolUseFailure", Path: "/tool/failure", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "PostToolBatch", Path: "/tool/batch", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "Elicitation", Path: "/session/elicitation", Answer: 2 * time.Second, Timeout: 5 * time.Second, Async: true},
		{Name: "ElicitationResult", Path: "/session/elicitation-result", Answer: 2 * time.Second, Timeout: 5 * time.Second, Async: true},
		{Name: "SubagentStart", Path: "/agent/start", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "SubagentStop", Path: "/agent/stop", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "PreCompact", Path: "/session/pre-compact", Answer: 2 * time.Second, Timeout: 5 * time.Second, Told: true},
		{Name: "PostCompact", Path: "/session/post-compact", Answer: 2 * time.Second, Timeout: 5 * time.Second, Told: true},
		{Name: "CwdChanged", Path: "/session/cwd", Answer: 2 * time.Second, Timeout: 5 * time.Second, Async: true},
		{Name: "PostModelSwitch", Path: "/session/model", Answer: 2 * time.Second, Timeout: 5 * time.Second, Async: true},
		{Name: "Stop", Path: "/session/stop", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "StopFailure", Path: "/session/stop-failure", Answer: 2 * time.Second, Timeout: 5 * time.Second},
		{Name: "SessionEnd", Path: "/session/end", Answer: 2 * time.Second, Timeout: 5 * time.Second},
	}
}

// Registered lists the events for which hooks are registered, in the same order.
func Registered() []Event {
	return slices.DeleteFunc(All(), func(e Event) bool { return e.Told })
}

// Named finds an event by the name that the host gives it.
func Named(name string) (Event, bool) {
	for _, e := range All() {
		if e.Name == name {
			return e, true
		}
	}
	return Event{}, false
}
