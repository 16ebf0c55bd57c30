package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/recorder/recordertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(recordertest.Settle(m)) }

// serve starts a server and returns a client of it.
func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return open(t, locate.File{URL: server.URL, Token: "tok"})
}

func open(t *testing.T, file locate.File) *Client {
	t.Helper()
	c, err := New(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// hang answers nothing. A server sees that its client has left once it has the body.
func hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func TestEachRequestGoesToItsRouteWithTheToken(t *testing.T) {
	type asked struct{ Method, Path, Token, Body string }
	var got asked
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = asked{r.Method, r.URL.Path, r.Header.Get("Authorization"), string(body)}
		_, _ = io.WriteString(w, `{"id":"dsp_1","callIds":true,"pid":7,"later":1}`)
	})
	ctx := t.Context()
	for _, c := range []struct {
		want asked
		ask  func() error
	}{
		{asked{"POST", PathStep, "Bearer tok", `{"id":"rep_1","proxyId":"","serverName":"s","toolName":"t","status":"","startedAt":"0001-01-01T00:00:00Z","durationMs":0}`},
			func() error { return c.Step(ctx, StepReport{ID: "rep_1", ServerName: "s", ToolName: "t"}) }},
		{asked{"POST", PathStep, "Bearer tok", `[{"id":"rep_1","proxyId":"","serverName":"s","toolName":"t","status":"","startedAt":"0001-01-01T00:00:00Z","durationMs":0},` +
			`{"id":"rep_2","proxyId":"","serverName":"s","toolName":"t","args":{"a":1.0},"status":"","startedAt":"0001-01-01T00:00:00Z","durationMs":0}]`},
			func() error {
				taken, err := c.Steps(ctx, []StepReport{{ID: "rep_1", ServerName: "s", ToolName: "t"},
					{ID: "rep_2", ServerName: "s", ToolName: "t", Args: json.RawMessage(`{"a":1.0}`)}})
				return errors.Join(err, same(0, len(taken.Refused)))
			}},
		{asked{"POST", PathResult, "Bearer tok", `{"id":"d","proxyId":"p","sent":false}`},
			func() error { return c.Result(ctx, Result{ID: "d", ProxyID: "p"}) }},
		{asked{"POST", PathPoll, "Bearer tok", `{"proxyId":"p","waitMs":5}`},
			func() error {
				d, err := c.Poll(ctx, Poll{ProxyID: "p", WaitMS: 5})
				return errors.Join(err, same("dsp_1", d.ID))
			}},
		{asked{"POST", PathDispatch, "Bearer tok", `{"serverName":"s","toolName":"t"}`},
			func() error {
				r, err := c.Dispatch(ctx, DispatchOrder{ServerName: "s", ToolName: "t"})
				return errors.Join(err, same("dsp_1", r.ID))
			}},
		{asked{"POST", PathShutdown, "Bearer tok", `{"handOver":true}`},
			func() error { return c.Shutdown(ctx, Shutdown{HandOver: true}) }},
		{asked{"GET", PathHealth, "Bearer tok", ""},
			func() error { h, err := c.Health(ctx); return errors.Join(err, same(7, h.PID)) }},
	} {
		if err := c.ask(); err != nil {
			t.Errorf("%s: %v", c.want.Path, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Error(diff)
		}
	}
	registered, err := c.Register(ctx, Register{ProxyID: "p"})
	if err != nil || !registered.CallIDs || got.Path != PathRegister {
		t.Errorf("%+v, %v", registered, err)
	}
}

func same[T comparable](want, got T) error {
	if want != got {
		return errors.New(cmp.Diff(want, got))
	}
	return nil
}

func TestErrorsTellWhatToDoNext(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    error
	}{
		"another token": {answer(401, "{}"), ErrUnauthorised},
		"draining":      {answer(503, "{}"), ErrUnreachable},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
			panic(http.ErrAbortHandler)
		}, ErrUnreachable},
	} {
		if err := serve(t, c.handler).Step(t.Context(), StepReport{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for body, want := range map[string]string{
		`{"title":"No such proxy","code":"not_found","detail":"prx_1","status":1}`: "No such proxy: prx_1",
		`<html>`: "the control server answered 404 Not Found",
		`[]`:     "the control server answered 404 Not Found",
	} {
		var refused *Refused
		err := serve(t, answer(404, body)).Step(t.Context(), StepReport{})
		if !errors.As(err, &refused) || refused.Status != 404 || refused.Error() != want {
			t.Errorf("%s: %v", body, err)
		}
	}
	for _, body := range []string{"garbage", `{"pid":"seven"}`} {
		if _, err := serve(t, answer(200, body)).Health(t.Context()); err == nil || errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: %v", body, err)
		}
	}
	if err := serve(t, answer(204, "")).Step(t.Context(), StepReport{}); err != nil {
		t.Errorf("no body: %v", err)
	}
}

func TestNobodyThereIsUnreachableAndAGivenUpRequestIsCancelled(t *testing.T) {
	file := locate.File{URL: "http://127.0.0.1:1", Token: "t"} // where nobody but root can listen
	if err := open(t, file).Step(t.Context(), StepReport{}); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
	asked := make(chan struct{})
	c := serve(t, func(w http.ResponseWriter, r *http.Request) { close(asked); hang(w, r) })
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := c.Poll(ctx, Poll{}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
}

func TestAServerThatHangsIsUnreachable(t *testing.T) {
	c := serve(t, hang)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := c.Step(ctx, StepReport{}); !errors.Is(err, ErrUnreachable) {
		t.Error(err)
	}
}

func TestTheSocketIsPreferredAndThePortTheWayOut(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip("no Unix sockets here:", err)
	}
	bySocket := &httptest.Server{Listener: l, Config: &http.Server{Handler: answer(200, `{"pid":1}`)}}
	bySocket.Start()
	byPort := httptest.NewServer(answer(200, `{"pid":2}`))
	t.Cleanup(byPort.Close)
	file := locate.File{URL: byPort.URL, Socket: socket, Token: "t"}
	if h, err := open(t, file).Health(t.Context()); err != nil || h.PID != 1 {
		t.Errorf("with a socket: %+v, %v", h, err)
	}
	bySocket.Close()
	if h, err := open(t, file).Health(t.Context()); err != nil || h.PID != 2 {
		t.Errorf("with a dead socket: %+v, %v", h, err)
	}
}

func TestProxyVariablesAreNotHeeded(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:9")
	t.Setenv("http_proxy", "http://127.0.0.1:9")
	c := serve(t, answer(200, `{"pid":3}`))
	if h, err := c.Health(t.Context()); err != nil || h.PID != 3 || c.transport.Proxy != nil {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the token went elsewhere") }))
	t.Cleanup(other.Close)
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	var refused *Refused
	if err := c.Step(t.Context(), StepReport{}); !errors.As(err, &refused) || refused.Status != 307 {
		t.Error(err)
	}
}

func TestOnlyThisMachineIsAsked(t *testing.T) {
	for _, url := range []string{"http://192.0.2.7:1", "https://127.0.0.1:1", "http://localhost.example:1", ""} {
		if _, err := New(locate.File{URL: url, Token: "t"}); !errors.Is(err, locate.ErrRemote) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestConnectionsAreKept(t *testing.T) {
	var remotes []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		remotes = append(remotes, r.RemoteAddr)
		answer(200, "{}")(w, r)
	})
	for range 3 {
		if err := c.Step(t.Context(), StepReport{}); err != nil {
			t.Fatal(err)
		}
	}
	if remotes[0] != remotes[1] || remotes[1] != remotes[2] {
		t.Errorf("connections from %v", remotes)
	}
}

func TestAReportIsCleanedOfSecretsAndCut(t *testing.T) {
	long, err := json.Marshal(map[string]any{"text": string(make([]byte, 200<<10)), "apiKey": "s3cr3t"})
	if err != nil {
		t.Fatal(err)
	}
	r := StepReport{Args: json.RawMessage(`{"password":"s3cr3t","n":1.0}`), Result: long,
		Error: "Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789"}.Clean()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"s3cr3t", "abcdefghijklmnopqrstuvwxyz"} {
		if contains(text, secret) {
			t.Errorf("%s is still there", secret)
		}
	}
	if len(r.Result) > 64<<10 || !contains(r.Result, `"truncated":true`) || !contains(r.Args, `"n":1.0`) {
		t.Errorf("args %s, %d bytes of result", r.Args, len(r.Result))
	}
	if empty := (StepReport{}).Clean(); empty.Args != nil || empty.Result != nil {
		t.Errorf("%+v", empty)
	}
	if r := (StepReport{Result: json.RawMessage("no json")}).Clean(); !json.Valid(r.Result) {
		t.Errorf("result %s", r.Result)
	}
}
