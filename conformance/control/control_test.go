//go:build unix

package control

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/conformance/stage"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
)

func TestMain(m *testing.M) { os.Exit(stage.Run(m)) }

// awaitControl waits for the server that a session has started, but did not wait for.
func awaitControl(p *stage.Project) client.Health {
	p.Helper()
	return p.Await("the control server", func(client.Health) bool { return true })
}

func TestSessionsThatStartAtOnceStartOneControlServer(t *testing.T) {
	t.Parallel()
	p := stage.New(t)
	begin := make(chan struct{})
	var starting sync.WaitGroup
	var sessions []*stage.Session
	for range 10 {
		s := p.NewSession()
		sessions = append(sessions, s)
		starting.Go(func() {
			<-begin
			s.Start()
		})
	}
	close(begin)
	starting.Wait()
	first := awaitControl(p)
	// A session goes on without a server that takes its time to start. It is heard then.
	for _, s := range sessions {
		s.Start()
	}
	h := p.Await("every session", func(h client.Health) bool { return len(h.Events) == 1 && h.Events[0].Count >= len(sessions) })
	if h.PID != first.PID || h.PID != p.Control().PID || h.Root != p.Root {
		t.Errorf("health of %d, then of %d in %s, file of %d", first.PID, h.PID, h.Root, p.Control().PID)
	}
	servers := slices.DeleteFunc(built.Left(p.Home), func(line string) bool {
		return !strings.Contains(line, "bir-control") || strings.Contains(line, "--detach")
	})
	if len(servers) > 1 {
		t.Errorf("%d control servers run: %q", len(servers), servers)
	}
}

func TestASessionDoesNotBringBackWhatItsUserStopped(t *testing.T) {
	t.Parallel()
	p := stage.New(t)
	s := p.NewSession()
	s.Start()
	awaitControl(p)
	p.Bir("down")
	s.Start()
	s.Prompt("hello")
	if _, err := locate.Read(p.Home, p.Root); err == nil {
		t.Error("it runs again")
	}
	p.Bir("up")
	s.Start()
	p.Await("the session", func(h client.Health) bool { return len(h.Events) == 1 && h.Events[0].Event == "SessionStart" })
}

// dispatch has a call made through a live proxy, as a replay would.
func dispatch(p *stage.Project, order client.DispatchOrder) (status int, result client.Result) {
	p.Helper()
	file := p.Control()
	body, err := json.Marshal(order)
	if err != nil {
		p.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.Context(), http.MethodPost, file.URL+client.PathDispatch, bytes.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+file.Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.Fatal(err)
	}
	defer res.Body.Close()
	_ = json.NewDecoder(res.Body).Decode(&result) // a problem document has none of its members
	return res.StatusCode, result
}

func TestACallIsMadeThroughALiveProxyAndTheHostHearsNothingOfIt(t *testing.T) {
	t.Parallel()
	p := stage.New(t)
	s := p.NewSession()
	s.Start()
	awaitControl(p)
	server := s.Connect("fleet")
	s.Prompt("look")
	p.Await("the proxy", func(h client.Health) bool { return len(h.Proxies) == 1 && h.Proxies[0].Alive })
	held := p.NewHeld()
	use := s.Pre("mcp__fleet__hold", map[string]any{"text": "the host's", "address": held.Address()})
	id := server.Begin(use, "hold")
	held.Await()
	order := client.DispatchOrder{ServerName: "fleet", ToolName: "echo", Args: json.RawMessage(`{"text":"ours"}`), TimeoutMS: 60_000}
	status, result := dispatch(p, order)
	if status != http.StatusOK || !result.Sent || !bytes.Contains(result.Result, []byte(`"text":"ours"`)) || !bytes.Contains(result.Result, []byte("1.0")) {
		t.Errorf("status %d: %+v, %s", status, result, result.Result)
	}
	order.ToolName = "fail"
	if status, result := dispatch(p, order); status != http.StatusOK || !bytes.Contains(result.Result, []byte(`"isError":true`)) {
		t.Errorf("status %d: %+v, %s", status, result, result.Result)
	}
	held.Release()
	if answer, ok := server.Answer(id); !ok || string(answer) != stage.Said(id, "the host's") {
		t.Errorf("the host got %q", answer)
	}
	s.Post(use, []any{map[string]any{"type": "text", "text": "the host's"}})
	order.ServerName = "depot"
	if status, _ := dispatch(p, order); status != http.StatusConflict {
		t.Errorf("a server that nobody wraps: status %d", status)
	}
	s.Stop("done")
	server.Leave()
	s.End()
	runs := p.Runs()
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	if calls, _ := p.Calls(runs[0]); len(calls) != 1 || calls[0].Tool != "mcp__fleet__hold" {
		t.Errorf("recorded are %+v", calls)
	}
}

func TestAControlServerThatNobodyNeedsEnds(t *testing.T) {
	t.Parallel()
	p := stage.New(t)
	p.Setenv("BIR_CONTROL_IDLE_MS", "200")
	p.ServeControl()
	if _, err := locate.Read(p.Home, p.Root); err == nil {
		t.Error("its file stays")
	}
	if locate.Stopped(p.Home, p.Root) {
		t.Error("it counts as stopped by its user")
	}
}
