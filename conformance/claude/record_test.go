//go:build linux

package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bir-run/bir/recorder"
)

// record is what a run holds, as far as these tests judge it.
type record struct {
	Prompt, Answer string
	Lossy          bool
	// Alone says that only a proxy told of it: there is no prompt, and the run is Open
	// for what may follow.
	Alone, Open bool
	Unmeasured  bool     // the usage may also not be known, since two turns met
	Usage       string   // by model: tokens of input, written to and read from the cache, of output
	Calls       []string // see describe; in the order of completion
}

// tell writes records out.
func tell(all []record) string {
	var out strings.Builder
	for _, r := range all {
		fmt.Fprintf(&out, "%q => %q lossy=%v alone=%v open=%v usage=%s\n", r.Prompt, r.Answer, r.Lossy, r.Alone, r.Open, r.Usage)
		for _, call := range r.Calls {
			fmt.Fprintf(&out, "    %s\n", call)
		}
	}
	return out.String()
}

// recorded waits until there are as many runs as wanted, each with its calls and at its
// end, and returns all that there are, oldest first.
func (l *lab) recorded(want []record) []record {
	l.Helper()
	var runs []recorder.Run
	// The record fills behind the client's back, and tells nobody when it has.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		if runs = l.runs(); complete(runs, want) {
			break
		}
		select {
		case <-tick.C:
			continue
		case <-deadline:
		}
		break
	}
	var all []record
	for _, r := range runs {
		all = append(all, l.read(r.ID))
	}
	return all
}

func complete(runs []recorder.Run, want []record) bool {
	if len(runs) < len(want) {
		return false
	}
	for i, w := range want {
		if runs[i].CallCount < len(w.Calls) || runs[i].State != recorder.StateFinished && !w.Open {
			return false
		}
	}
	return true
}

func (l *lab) runs() []recorder.Run {
	l.Helper()
	var list struct {
		Runs []recorder.Run `json:"runs"`
	}
	text := l.bir("runs", "list", "--json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		l.Fatalf("runs list: %v: %s", err, text)
	}
	slices.SortFunc(list.Runs, func(a, b recorder.Run) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
	})
	return list.Runs
}

func (l *lab) read(id string) record {
	l.Helper()
	var x recorder.Export
	text := l.bir("runs", "export", id)
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		l.Fatalf("runs export: %v: %s", err, text)
	}
	r := record{Prompt: x.Run.Input, Answer: x.Run.Output, Lossy: x.Run.Metadata.Lossy, Usage: usage(x.Run.Usage),
		Alone: x.Run.Metadata.Tier == recorder.TierStandalone, Open: x.Run.State == recorder.StateOpen}
	asked := map[string]recorder.Step{}
	for i, s := range x.Steps {
		if s.StepIndex != i {
			l.Errorf("row %d of %q stands at %d", i, r.Prompt, s.StepIndex)
		}
		switch s.Type {
		case recorder.StepSelected:
			asked[s.CallID] = s
		case recorder.StepResponse:
			r.Calls = append(r.Calls, describe(asked[s.CallID], s))
			l.asTheServerSaid(s)
		case recorder.StepAnswer:
			if i != len(x.Steps)-1 || s.Answer != r.Answer {
				l.Errorf("row %d of %q is the answer %q", i, r.Prompt, s.Answer)
			}
		}
	}
	return r
}

// describe puts a call into a line: its id, tool, end and arguments, and what else is
// out of the ordinary.
func describe(in, out recorder.Step) string {
	line := fmt.Sprintf("%s %s %s %s", out.CallID, in.ToolName, out.Status, in.ToolInput)
	for _, extra := range []struct{ name, value string }{
		{"agent", in.AgentType}, {"asked", in.AskedInput}, {"error", brief(out)}, {"after", in.Context},
	} {
		if extra.value != "" {
			line += " " + extra.name + "=" + extra.value
		}
	}
	if out.Attempts > 1 {
		line += fmt.Sprintf(" attempts=%d", out.Attempts)
	}
	return line
}

// brief is the error of a call, without what the client says in words of its own, which
// are many. For a call that the person stopped, who spoke last may or may not have had
// words.
func brief(out recorder.Step) string {
	switch {
	case out.Status == recorder.StatusInterrupted:
		return ""
	case len(out.ToolError) > 20:
		return "…"
	}
	return out.ToolError
}

// asTheServerSaid fails the test where a recorded result is not what the server wrote.
func (l *lab) asTheServerSaid(s recorder.Step) {
	l.Helper()
	if s.ServerName == "" || s.ToolOutput == "" || l.late {
		return
	}
	var want bytes.Buffer // white space between values is not kept
	if err := json.Compact(&want, []byte(l.upstream.resultOf(s.CallID))); err != nil || s.ToolOutput != want.String() {
		l.Errorf("the result of %s is\n%s\nwant, as the server wrote it,\n%s", s.CallID, s.ToolOutput, want.String())
	}
}

func usage(models map[string]recorder.Usage) string {
	var all []string
	for model, u := range models {
		all = append(all, fmt.Sprintf("%s %d+%d+%d %d", model, u.Input, u.CacheCreation, u.CacheRead, u.Output))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// resultOf is the text of a call's result as a server wrote it, empty without one.
func (u *upstream) resultOf(toolUseID string) string {
	pid, id := 0, ""
	for _, s := range u.seen.all() {
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
		}
		switch {
		case isCall(toolUseID)(s) && json.Unmarshal([]byte(s.In), &m) == nil:
			pid, id = s.PID, string(m.ID)
		case s.PID == pid && json.Unmarshal([]byte(s.Out), &m) == nil && m.Method == "" && string(m.ID) == id:
			return string(m.Result)
		}
	}
	return ""
}
