//go:build unix

package sessions

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/conformance/stage"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/recorder"
)

func run(m *testing.M) int { return stage.Run(m) }

// The recorded sessions through the real programs: bir-hooks, bir-control, bir-proxy in
// front of a server that gives the recorded answers, the service, and its store.
func TestRecordedSessionsThroughThePrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs every program")
	}
	each(t, func(t *testing.T, name string, s *session) {
		p := &programs{Project: stage.New(t), s: s, wrote: map[string]int{}}
		p.StartControl()
		p.connect(shared(t, filepath.Join("sessions", name)))
		for _, e := range s.events {
			p.tell(e)
		}
		want, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var expected []result
		if err := json.Unmarshal(want, &expected); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(spelled(t, expected), spelled(t, p.results())); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// upstream is the program that gives the recorded answers, built once. It goes with the
// other programs.
var upstream = sync.OnceValues(func() (string, error) {
	dir, err := built.Dir()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "sessions-upstream")
	if out, err := exec.Command("go", "build", "-o", path, "./upstream").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the upstream: %w\n%s", err, out)
	}
	return path, nil
})

// spelled compares JSON by what it says.
func spelled(t *testing.T, runs []result) (out []any) {
	t.Helper()
	text, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// programs plays a script to the real programs.
type programs struct {
	*stage.Project
	s     *session
	wrote map[string]int
	in    io.Writer
	out   *bufio.Reader
}

// command is one of bir's programs as the host starts it.
func (p *programs) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	dir, err := built.Dir()
	if err != nil {
		p.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, built.Path(dir, name), args...)
	cmd.Dir = p.Root
	cmd.Env = append(cmd.Environ(), "BIR_HOME="+p.Home, "CLAUDE_PROJECT_DIR="+p.Root, "CLAUDE_CODE_SESSION_ID="+p.s.id)
	return cmd
}

// connect starts the session's server behind the proxy, if it had one.
func (p *programs) connect(fixture string) {
	p.Helper()
	traffic, err := filepath.Abs(filepath.Join(fixture, "mcp-stdio.jsonl"))
	if err != nil {
		p.Fatal(err)
	}
	if _, err := os.Stat(traffic); err != nil {
		traffic = os.DevNull
	}
	server, err := upstream()
	if err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(p.Context())
	cmd := p.command(ctx, "bir-proxy", "--server-name", p.s.server, "--", server, traffic)
	in, err := cmd.StdinPipe()
	if err != nil {
		p.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was told to end
	})
	p.in, p.out = in, bufio.NewReader(out)
	p.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.332"}}}`)
	p.hear("0")
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.Await("the proxy", func(h client.Health) bool { return len(h.Proxies) == 1 && h.Proxies[0].Host.Version != "" })
}

func (p *programs) say(text string) {
	p.Helper()
	if _, err := io.WriteString(p.in, text+"\n"); err != nil {
		p.Fatal(err)
	}
}

// hear waits for the answer to a request.
func (p *programs) hear(id string) {
	p.Helper()
	for {
		line, err := p.out.ReadBytes('\n')
		if err != nil {
			p.Fatalf("no answer to %s: %v", id, err)
		}
		if m := gjson.ParseBytes(line); m.Get("id").Raw == id && !m.Get("method").Exists() {
			return
		}
	}
}

func (p *programs) tell(e scripted) {
	p.Helper()
	if e.report != nil {
		p.call(*e.report)
		return
	}
	known, ok := event.Named(e.name)
	if !ok {
		return // bir asks for no such hook
	}
	p.grow(e.at)
	ctx, cancel := context.WithTimeout(p.Context(), stage.Patience)
	defer cancel()
	cmd := p.command(ctx, "bir-hooks", known.Name)
	cmd.Stdin = bytes.NewReader(bytes.ReplaceAll(e.payload, []byte(`"`+placeholder), []byte(`"`+p.Home+"/transcripts")))
	if out, err := cmd.CombinedOutput(); err != nil || (len(out) > 0 && string(bytes.TrimSpace(out)) != "{}") {
		p.Errorf("the hook of %s: %v, %q", e.name, err, out)
	}
}

// call makes a call and waits until the proxy has reported it by itself: how late it
// may be is tested elsewhere.
func (p *programs) call(r client.StepReport) {
	p.Helper()
	id, before := fmt.Sprintf("%q", r.ID), p.calls()
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"claudecode/toolUseId":%q}}}`, id, r.ToolName, compact(r.Args), r.ToolUseID))
	if r.Status == recorder.StatusCancelled {
		p.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"AbortError: user-cancel"}}`, id))
	} else {
		p.hear(id)
	}
	p.Await("the proxy's report", func(h client.Health) bool { return len(h.Proxies) == 1 && h.Proxies[0].Calls > before })
}

func (p *programs) calls() int {
	p.Helper()
	h, err := p.Health()
	if err != nil || len(h.Proxies) != 1 {
		p.Fatalf("%+v, %v", h, err)
	}
	return h.Proxies[0].Calls
}

// grow writes the lines of the transcripts up to a moment of the recording, as of now.
func (p *programs) grow(until time.Time) {
	p.Helper()
	for _, g := range p.s.files {
		n := p.wrote[g.name]
		for ; n < len(g.lines) && !g.at[n].After(until); n++ {
			line := g.lines[n]
			if gjson.GetBytes(line, "timestamp").Exists() {
				var err error
				if line, err = sjson.SetBytes(line, "timestamp", time.Now().UTC().Format("2006-01-02T15:04:05.000Z")); err != nil {
					p.Fatal(err)
				}
			}
			if err := appendFile(filepath.Join(p.Home, "transcripts", filepath.FromSlash(g.name)), append(line, '\n')); err != nil {
				p.Fatal(err)
			}
		}
		p.wrote[g.name] = n
	}
}

// results reads what is in the store.
func (p *programs) results() (out []result) {
	p.Helper()
	runs := p.Runs()
	for i := len(runs) - 1; i >= 0; i-- { // the newest are listed first
		run := runs[i].Run
		one := result{
			Input: run.Input, Session: run.Metadata.SessionID, Tier: run.Metadata.Tier, Host: run.Metadata.Host,
			Wrapped: run.Metadata.WrappedServers, Output: run.Output, Usage: run.Usage, Lossy: run.Metadata.Lossy,
		}
		for _, row := range runs[i].Steps {
			switch row.Type {
			case recorder.StepSelected:
				one.Steps = append(one.Steps, step{
					ID: row.CallID, Server: row.ServerName, Tool: row.ToolName, Args: json.RawMessage(row.ToolInput),
					Asked: json.RawMessage(row.AskedInput), Context: row.Context, Agent: row.AgentID, Type: row.AgentType,
				})
				if row.ServerName != "" {
					one.Steps[len(one.Steps)-1].Tool = row.UpstreamTool
				}
			case recorder.StepResponse:
				last := &one.Steps[len(one.Steps)-1]
				last.Status, last.Result, last.Error, last.Attempts = row.Status, json.RawMessage(row.ToolOutput), row.ToolError, row.Attempts
			}
		}
		out = append(out, one)
	}
	return out
}
