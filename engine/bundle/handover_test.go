package bundle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bir-run/bir/engine/bundle"
)

func TestNotesSayWhatMayBeAssumed(t *testing.T) {
	stopped := bundle.Step{Index: 2, Tool: "mcp__x__write"}
	ran := []bundle.Step{{Index: 1, Tool: "mcp__x__read"}}
	tests := map[string]struct {
		facts bundle.Facts
		has   []string
		lacks []string
	}{
		"not sent":      {bundle.Facts{Total: 3, Ran: ran, Stopped: stopped, Ending: bundle.NotSent, Error: "no proxy"}, []string{"step 1 of 3", "a second time", "Step 2 of 3 (mcp__x__write) was not sent and had no effect: no proxy"}, nil},
		"no answer":     {bundle.Facts{Total: 3, Stopped: stopped, Ending: bundle.NoAnswer, Error: "timeout"}, []string{"Its effect is unknown", "timeout"}, []string{"Nothing was done"}},
		"unreadable":    {bundle.Facts{Total: 3, Stopped: stopped, Ending: bundle.Unreadable, Error: "no id"}, []string{"took effect", "must not be sent again"}, []string{"Nothing was done"}},
		"out of time":   {bundle.Facts{Total: 3, Ran: ran, Stopped: stopped, Ending: bundle.OutOfTime}, []string{"no time was left"}, nil},
		"recorded only": {bundle.Facts{Total: 3, Ran: ran, Recorded: true, Stopped: stopped, Ending: bundle.NotSent, Error: "x"}, []string{"No tool was called"}, []string{"real results"}},
		"refused":       {bundle.Facts{Total: 3, Error: "a guard refused region"}, []string{"refused before its first step", "Nothing was done"}, nil},
		"all ran":       {bundle.Facts{Total: 1, Ran: ran, Ending: bundle.AllRan, Error: "x"}, []string{"Every step is done"}, []string{"not sent"}},
	}
	for name, test := range tests {
		note := bundle.HandOver(test.facts)
		if !strings.HasPrefix(note, bundle.Opening) {
			t.Errorf("%s: opens with %q", name, note[:20])
		}
		for _, want := range test.has {
			if !strings.Contains(note, want) {
				t.Errorf("%s: lacks %q:\n%s", name, want, note)
			}
		}
		for _, wrong := range test.lacks {
			if strings.Contains(note, wrong) {
				t.Errorf("%s: says %q:\n%s", name, wrong, note)
			}
		}
	}
}

func TestNotesStayWithinTheirLimit(t *testing.T) {
	facts := bundle.Facts{
		Total: 500, Stopped: bundle.Step{Index: 1, Tool: strings.Repeat("t", 9000)}, Ending: bundle.NotSent,
		Error: strings.Repeat("é", 9000), Params: map[string]json.RawMessage{},
	}
	for i := range 500 {
		facts.Remaining = append(facts.Remaining, bundle.Step{Index: i + 2, Tool: "mcp__server__tool"})
		facts.Params[fmt.Sprintf("p%d", i)] = json.RawMessage(`"` + strings.Repeat("x", 500) + `"`)
	}
	if n := utf8.RuneCountInString(bundle.HandOver(facts)); n > bundle.MaxNoteRunes {
		t.Errorf("%d characters", n)
	}
}
