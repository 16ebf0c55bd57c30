//go:build linux

package claude

import (
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
	Usage          string   // by model: tokens of input, written to and read from the cache, of output
	Calls          []string // see describe; in the order of completion
}

// recorded waits until there are n finished runs, and returns all that there are,
// oldest first.
func (l *lab) recorded(n int) []record {
	l.Helper()
	var runs []recorder.Run
	// The record fills behind the client's back, and tells nobody when it has.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); ; {
		runs = l.runs()
		if len(runs) >= n && count(runs, func(r recorder.Run) bool { return r.State != recorder.StateFinished }) == 0 {
			break
		}
		select {
		case <-tick.C:
			continue
		case <-deadline:
			l.Errorf("there are %d runs, want %d, all finished: %+v", len(runs), n, runs)
		}
		break
	}
	var all []record
	for _, r := range runs {
		all = append(all, l.read(r.ID))
	}
	return all
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
	if x.Run.Metadata.Tier != recorder.TierBound {
		l.Errorf("the run %q is of the tier %q", x.Run.Input, x.Run.Metadata.Tier)
	}
	r := record{Prompt: x.Run.Input, Answer: x.Run.Output, Lossy: x.Run.Metadata.Lossy, Usage: usage(x.Run.Usage)}
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
		{"agent", in.AgentType}, {"asked", in.AskedInput}, {"error", out.ToolError}, {"after", in.Context},
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

// asTheServerSaid fails the test where a recorded result is not what the server wrote.
func (l *lab) asTheServerSaid(s recorder.Step) {
	l.Helper()
	if s.ServerName == "" || s.ToolOutput == "" {
		return
	}
	if want := l.upstream.resultOf(s.CallID); s.ToolOutput != want {
		l.Errorf("the result of %s is\n%s\nwant, as the server wrote it,\n%s", s.CallID, s.ToolOutput, want)
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
