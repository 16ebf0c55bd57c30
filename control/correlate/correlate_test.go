package correlate

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/transcript"
	"github.com/bir-run/bir/recorder"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func hooked() *Call {
	return &Call{
		ID: "t1", Tool: "mcp__my_server_v1__echo", Server: "my server.v1", Began: noon, Asked: json.RawMessage(`{"a":1,"b":2}`), Context: "because",
		Agent: "a1", AgentType: "Explore",
		End: &End{
			At: noon.Add(50 * time.Millisecond), Status: recorder.StatusOK, Ran: json.RawMessage(`{"b":2,"a":1}`),
			Result: json.RawMessage(`"shown"`), DurationMS: 20,
		},
	}
}

func onTheWire() client.StepReport {
	return client.StepReport{
		ID: "rep_1", ServerName: "my server.v1", ToolName: "echo", Args: json.RawMessage(`{"a":1,"b":3}`), Result: json.RawMessage(`{"content":[]}`),
		Status: recorder.StatusOK, StartedAt: noon.Add(10 * time.Millisecond), DurationMS: 15,
	}
}

func TestHookAloneMakesACall(t *testing.T) {
	want := recorder.Call{
		ID: "t1", ServerName: "my server.v1", ToolName: "echo", Args: json.RawMessage(`{"b":2,"a":1}`), Result: json.RawMessage(`"shown"`),
		Status: recorder.StatusOK, StartedAt: noon, Duration: 20 * time.Millisecond, Context: "because", AgentID: "a1", AgentType: "Explore",
	}
	if diff := cmp.Diff(want, hooked().Merged()); diff != "" {
		t.Error(diff)
	}
}

func TestWireWinsOverTheHook(t *testing.T) {
	c := hooked()
	c.TakeWire(onTheWire())
	want := recorder.Call{
		ID: "t1", ServerName: "my server.v1", ToolName: "echo", Args: json.RawMessage(`{"a":1,"b":3}`), Asked: json.RawMessage(`{"a":1,"b":2}`),
		Result: json.RawMessage(`{"content":[]}`), Status: recorder.StatusOK, StartedAt: noon.Add(10 * time.Millisecond), Duration: 15 * time.Millisecond,
		Context: "because", AgentID: "a1", AgentType: "Explore",
	}
	if diff := cmp.Diff(want, c.Merged()); diff != "" {
		t.Error(diff)
	}
}

func TestStatusOfBothHalves(t *testing.T) {
	for _, c := range []struct {
		hook, wire, want recorder.Status
		failure, error   string // the hook's and the merged
	}{
		{hook: recorder.StatusToolError, wire: recorder.StatusRPCError, want: recorder.StatusRPCError},
		{hook: recorder.StatusToolError, wire: recorder.StatusCancelled, want: recorder.StatusCancelled, failure: "timed out after 2s", error: "timed out after 2s"},
		{hook: recorder.StatusToolError, wire: recorder.StatusNoAnswer, want: recorder.StatusNoAnswer, failure: "Connection closed", error: "Connection closed"},
		{hook: recorder.StatusInterrupted, wire: recorder.StatusCancelled, want: recorder.StatusInterrupted},
		{hook: recorder.StatusInterrupted, wire: recorder.StatusOK, want: recorder.StatusOK},
	} {
		call, w := hooked(), onTheWire()
		call.End.Status, call.End.Error, w.Status = c.hook, c.failure, c.wire
		if c.wire != recorder.StatusOK {
			w.Result = nil
		}
		call.TakeWire(w)
		if got := call.Merged(); got.Status != c.want || got.Error != c.error {
			t.Errorf("%s and %s make %s, %q", c.hook, c.wire, got.Status, got.Error)
		}
	}
}

func TestLastAttemptCounts(t *testing.T) {
	first, second := onTheWire(), onTheWire()
	first.Status = recorder.StatusRPCError
	second.StartedAt = second.StartedAt.Add(time.Second)
	for _, order := range [][]client.StepReport{{first, second}, {second, first}} {
		c := hooked()
		for _, r := range order {
			c.TakeWire(r)
		}
		if got := c.Merged(); got.Attempts != 2 || got.Status != recorder.StatusOK || !c.EndedAt().Equal(second.StartedAt.Add(15*time.Millisecond)) {
			t.Errorf("%+v", got)
		}
	}
}

func TestSettledIsWhenNothingMoreComes(t *testing.T) {
	c := hooked()
	c.Expect = true
	if c.Settled() {
		t.Error("settled without the proxy's half")
	}
	c.End.Status = recorder.StatusDenied
	if !c.Settled() {
		t.Error("a call that did not run waits for a proxy")
	}
	c.End = nil
	c.TakeWire(onTheWire())
	if c.Settled() {
		t.Error("settled without the hook's half")
	}
}

func TestNamesAreTakenApart(t *testing.T) {
	for _, c := range []struct{ tool, server, name, upstream string }{
		{"Bash", "", "", "Bash"},
		{"mcp__fake__echo", "fake", "fake", "echo"},
		{"mcp__fake__echo", "", "fake", "echo"},
		{"mcp__my_server_v1__echo", "my server.v1", "my server.v1", "echo"},
		{"mcp__plugin_birp_fake__echo", "plugin:birp:fake", "plugin:birp:fake", "echo"},
		{"mcp__a__b__c", "a__b", "a__b", "c"},
		{"mcp__a__b__c", "", "a", "b__c"},
		{"mcp__odd", "", "", "mcp__odd"},
		{"mcp__", "", "", "mcp__"},
	} {
		if name, upstream := Split(c.tool, c.server); name != c.name || upstream != c.upstream {
			t.Errorf("%s of %q: %q, %q", c.tool, c.server, name, upstream)
		}
	}
	if !Serves("my server.v1", "mcp__my_server_v1__echo") || Serves("my", "mcp__my_server_v1__echo") {
		t.Error("a tool is its server's")
	}
	if !Names("mcp__fake__get_sum", "get.sum") || Names("mcp__fake__echo", "approve") {
		t.Error("a tool is named by its server")
	}
}

func TestReportUnderACallsIDMayBeAnothers(t *testing.T) {
	c := &Call{ID: "t1", Tool: "mcp__fake__echo"}
	if !c.Is(client.StepReport{ToolUseID: "t1", ToolName: "echo"}) || c.Is(client.StepReport{ToolUseID: "t1", ToolName: "approve"}) {
		t.Error("a tool that is asked for permission is not the call that is asked about")
	}
}

func TestStatusFromTheTranscript(t *testing.T) {
	for name, c := range map[string]struct {
		call transcript.Call
		want recorder.Status
	}{
		"a result":             {transcript.Call{}, recorder.StatusOK},
		"an error":             {transcript.Call{Error: "Exit code 1\nPermission to x denied"}, recorder.StatusToolError},
		"rejected":             {transcript.Call{Error: "x", Denial: "user-rejected", BeforeRun: true}, recorder.StatusRejected},
		"stopped while it ran": {transcript.Call{Error: "x", Denial: "user-rejected"}, recorder.StatusInterrupted},
		"cut off":              {transcript.Call{Error: "x", Denial: "interrupted"}, recorder.StatusInterrupted},
		"by configuration":     {transcript.Call{Error: "x", Denial: "user-rejected", Decider: "config"}, recorder.StatusDenied},
		"a rule":               {transcript.Call{Error: "x", Denial: "permission-rule"}, recorder.StatusDenied},
		"an older client":      {transcript.Call{Error: "Claude requested permissions to use Bash, but you haven't"}, recorder.StatusDenied},
		"not its schema":       {transcript.Call{Error: "<tool_use_error>InputValidationError: x"}, recorder.StatusInvalid},
	} {
		c.call.Ended = noon
		if got := Recovered(c.call).Status; got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if Recovered(transcript.Call{}) != nil {
		t.Error("a call without a result has an end")
	}
}
