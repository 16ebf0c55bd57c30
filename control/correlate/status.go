package correlate

import (
	"strings"

	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

// notRun is how the texts begin with which Claude Code answers the model in the place
// of a result, for calls of which no hook tells the end.
var notRun = []struct {
	text   string
	status recorder.Status
}{
	{"<tool_use_error>", recorder.StatusInvalid},
	{"PreToolUse:", recorder.StatusDenied},
	{"Permission to ", recorder.StatusDenied},
	{"Permission for this action ", recorder.StatusDenied},
	{"Claude requested permissions ", recorder.StatusDenied},
	{"The user doesn't want to ", recorder.StatusRejected},
}

// Answered reads the status of a call that did not run from what the model was told
// about it. It is empty for what may as well be a tool's answer.
func Answered(text string) recorder.Status {
	for _, n := range notRun {
		if strings.HasPrefix(text, n.text) {
			return n.status
		}
	}
	return ""
}

// Recovered is the end of a call as the transcript has it; nil where it has none.
func Recovered(t transcript.Call) *End {
	if t.Ended.IsZero() {
		return nil
	}
	return &End{At: t.Ended, Began: t.Began, Status: recoveredStatus(t), Result: t.Result, Error: t.Error}
}

func recoveredStatus(t transcript.Call) recorder.Status {
	byPerson := t.Decider == "" || strings.HasPrefix(t.Decider, "user")
	switch {
	case t.Denial == "user-rejected" && !byPerson:
		return recorder.StatusDenied
	case t.Denial == "user-rejected" && t.BeforeRun:
		return recorder.StatusRejected
	case t.Denial == "user-rejected" || t.Denial == "interrupted":
		return recorder.StatusInterrupted
	case t.Denial != "": // by a rule, the mode, a hook
		return recorder.StatusDenied
	case t.Error == "":
		return recorder.StatusOK
	}
	if s := Answered(t.Error); s != "" {
		return s
	}
	return recorder.StatusToolError
}

// Untold is the end of a call that nobody told of: the turn is over, or was stopped.
// What the proxy saw counts; without it, what the person was asked.
func (c *Call) Untold(stopped bool) recorder.Status {
	switch {
	case c.Wire != nil && c.Wire.Status == recorder.StatusCancelled && stopped:
		return recorder.StatusInterrupted
	case c.Wire != nil:
		return c.Wire.Status
	case c.Denied:
		return recorder.StatusDenied
	case stopped && c.AskedPerson:
		return recorder.StatusRejected
	case stopped:
		return recorder.StatusInterrupted
	}
	return recorder.StatusUnreported
}
