package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/recordertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(recordertest.Settle(m)) }

const (
	token    = "6f70656e20736573616d65"
	patience = recordertest.Patience
)

// fakeBook is a Book of funcs; those that are nil answer nothing.
type fakeBook struct {
	hook     func(name string, payload []byte) []byte
	register func(client.Register) client.Registered
	step     func(client.StepReport) error
	seen     []client.Seen
	idle     func() bool
}

func (b *fakeBook) Hook(_ context.Context, name string, payload []byte) []byte {
	if b.hook == nil {
		return nil
	}
	return b.hook(name, payload)
}

func (b *fakeBook) Register(r client.Register) client.Registered {
	if b.register == nil {
		return client.Registered{}
	}
	return b.register(r)
}

func (b *fakeBook) Step(r client.StepReport) error {
	if b.step == nil {
		return nil
	}
	return b.step(r)
}

func (b *fakeBook) Health() (int, []client.OpenRun, []client.Proxy, []client.Seen) {
	return 7, []client.OpenRun{{ID: "run_1"}}, nil, append([]client.Seen(nil), b.seen...)
}

func (b *fakeBook) Idle(time.Time) bool { return b.idle != nil && b.idle() }

// running is a server that serves a TCP port of its own.
type running struct {
	*testing.T
	*Server
	url  string
	stop context.CancelFunc
	done chan struct{} // closed when Serve has returned
	err  error         // read only after done
	over bool
	http *http.Client
}

func serve(t *testing.T, cfg Config, more ...net.Listener) *running {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Book == nil {
		cfg.Book = &fakeBook{}
	}
	cfg.Token, cfg.Root, cfg.Version = token, "/p", "1.2.3"
	ctx, cancel := context.WithCancel(t.Context())
	transport := &http.Transport{}
	r := &running{T: t, Server: New(cfg), url: "http://" + l.Addr().String(), stop: cancel, done: make(chan struct{}), http: &http.Client{Transport: transport}}
	go func() { // ends with the server
		defer close(r.done)
		r.over, r.err = r.Serve(ctx, append(more, l)...)
	}()
	t.Cleanup(func() {
		cancel()
		r.ended()
		transport.CloseIdleConnections()
	})
	return r
}

// ended waits for the end of the server.
func (r *running) ended() {
	r.Helper()
	select {
	case <-r.done:
		if r.err != nil {
			r.Error(r.err)
		}
	case <-time.After(patience):
		r.Fatal("the server did not end")
	}
}

// do makes a request as a program of the user would, unless change says otherwise.
func (r *running) do(method, path, body string, change func(*http.Request)) (status int, answer string) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if change != nil {
		change(req)
	}
	res, err := r.http.Do(req)
	if err != nil {
		r.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.Error(err)
	}
	return res.StatusCode, string(text)
}

func (r *running) post(path, body string) (status int, answer string) {
	r.Helper()
	return r.do(http.MethodPost, path, body, nil)
}

// get posts and reads the answer, which must be one.
func get[T any](r *running, path string, body any) (answer T) {
	r.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		r.Fatal(err)
	}
	status, got := r.post(path, string(text))
	if status != http.StatusOK {
		r.Errorf("%s: status %d: %s", path, status, got)
	}
	if err := json.Unmarshal([]byte(got), &answer); err != nil {
		r.Error(err)
	}
	return answer
}

// every names each route with its method.
func every() map[string]string {
	routes := map[string]string{}
	for path, to := range New(Config{}).routes {
		routes[path] = to.method
	}
	return routes
}

func TestOnlyAProgramOfTheUserIsAnswered(t *testing.T) {
	r := serve(t, Config{Book: &fakeBook{
		hook: func(string, []byte) []byte { t.Error("the book was told"); return nil },
		step: func(client.StepReport) error { t.Error("the book was told"); return nil },
	}})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(r.url, "http://"))
	for name, c := range map[string]struct {
		status int
		code   api.Code
		change func(*http.Request)
	}{
		"no token":          {401, api.Unauthorized, func(r *http.Request) { r.Header.Del("Authorization") }},
		"another token":     {401, api.Unauthorized, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token+"0") }},
		"half a token":      {401, api.Unauthorized, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token[:8]) }},
		"another scheme":    {401, api.Unauthorized, func(r *http.Request) { r.Header.Set("Authorization", "Basic "+token) }},
		"a rebound name":    {403, api.HostNotAllowed, func(r *http.Request) { r.Host = "evil.example:" + port }},
		"no port":           {403, api.HostNotAllowed, func(r *http.Request) { r.Host = "127.0.0.1" }},
		"another port":      {403, api.HostNotAllowed, func(r *http.Request) { r.Host = "127.0.0.1:1" }},
		"another address":   {403, api.HostNotAllowed, func(r *http.Request) { r.Host = "10.0.0.1:" + port }},
		"a page":            {403, api.OriginNotAllowed, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		"a local page":      {403, api.OriginNotAllowed, func(r *http.Request) { r.Header.Set("Origin", "http://localhost:3000") }},
		"a sandboxed page":  {403, api.OriginNotAllowed, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		"an empty origin":   {403, api.OriginNotAllowed, func(r *http.Request) { r.Header.Set("Origin", "") }},
		"a page's own name": {403, api.HostNotAllowed, func(r *http.Request) { r.Host = "localhost.evil.example:" + port }},
	} {
		for path, method := range every() {
			status, answer := r.do(method, path, "{}", c.change)
			if status != c.status || !strings.Contains(answer, `"code":"`+string(c.code)+`"`) {
				t.Errorf("%s: %s: status %d: %s", name, path, status, answer)
			}
		}
	}
}

func TestNamesOfThisMachineAreAnswered(t *testing.T) {
	r := serve(t, Config{})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(r.url, "http://"))
	for _, host := range []string{"127.0.0.1", "localhost", "LOCALHOST", "[::1]"} {
		status, answer := r.do(http.MethodGet, client.PathHealth, "", func(r *http.Request) { r.Host = host + ":" + port })
		if status != http.StatusOK {
			t.Errorf("%s: status %d: %s", host, status, answer)
		}
	}
}

func TestOverASocketTheTokenIsNeededAndTheNameIsNot(t *testing.T) {
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Skip("no Unix sockets here")
	}
	r := serve(t, Config{}, l)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", l.Addr().String())
	}}
	defer transport.CloseIdleConnections()
	r.http = &http.Client{Transport: transport}
	named := func(r *http.Request) { r.Host = "bir" }
	if status, answer := r.do(http.MethodGet, client.PathHealth, "", named); status != http.StatusOK {
		t.Errorf("status %d: %s", status, answer)
	}
	if status, _ := r.do(http.MethodGet, client.PathHealth, "", func(r *http.Request) { r.Header.Del("Authorization") }); status != http.StatusUnauthorized {
		t.Errorf("without a token: status %d", status)
	}
	if status, _ := r.do(http.MethodGet, client.PathHealth, "", func(r *http.Request) { r.Header.Set("Origin", "null") }); status != http.StatusForbidden {
		t.Errorf("from a page: status %d", status)
	}
}

func TestWhatIsNoRouteIsAProblemDocument(t *testing.T) {
	r := serve(t, Config{})
	huge := `{"proxyId":"p","serverName":"` + strings.Repeat("x", api.MaxBodyBytes) + `"}`
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		code               api.Code
	}{
		"no such path":    {"POST", "/nowhere", "{}", 404, api.NotFound},
		"a path below":    {"POST", "/tool/pre/", "{}", 404, api.NotFound},
		"another method":  {"GET", "/tool/pre", "", 405, api.MethodNotAllowed},
		"no JSON":         {"POST", client.PathStep, "{", 400, api.MalformedJSON},
		"another type":    {"POST", client.PathStep, `{"id":7}`, 400, api.MalformedJSON},
		"no body":         {"POST", client.PathRegister, "", 400, api.BadRequest},
		"no name":         {"POST", client.PathRegister, `{"proxyId":"p"}`, 400, api.BadRequest},
		"no report id":    {"POST", client.PathStep, `{"proxyId":"p"}`, 400, api.BadRequest},
		"no report tool":  {"POST", client.PathStep, `{"id":"rep_1","proxyId":"p"}`, 400, api.BadRequest},
		"no list":         {"POST", client.PathStep, `[{"id":"rep_1"`, 400, api.MalformedJSON},
		"another element": {"POST", client.PathStep, ` [7]`, 400, api.MalformedJSON},
		"no tool":         {"POST", client.PathDispatch, `{"serverName":"s"}`, 400, api.BadRequest},
		"a stranger":      {"POST", client.PathPoll, `{"proxyId":"p"}`, 404, CodeUnknownProxy},
		"no such call":    {"POST", client.PathResult, `{"id":"dsp_1","proxyId":"p"}`, 404, api.NotFound},
		"too large":       {"POST", client.PathRegister, huge, 413, api.PayloadTooLarge},
		"too large event": {"POST", "/tool/post", huge, 413, api.PayloadTooLarge},
	} {
		status, answer := r.do(c.method, c.path, c.body, nil)
		var p api.Problem
		if err := json.Unmarshal([]byte(answer), &p); err != nil || status != c.status || p.Code != c.code || p.Status != status || p.Title == "" {
			t.Errorf("%s: status %d, error %v: %.300s", name, status, err, answer)
		}
	}
}

func TestAListOfReportsIsTakenInItsOrder(t *testing.T) {
	var got []string
	r := serve(t, Config{Book: &fakeBook{step: func(r client.StepReport) error { got = append(got, r.ID); return nil }}})
	if known := get[client.Registered](r, client.PathRegister, client.Register{ProxyID: "p", ServerName: "s"}); !known.Lists {
		t.Error("a proxy is not told that it may send lists")
	}
	reports := []client.StepReport{
		{ID: "rep_3", ProxyID: "p", ToolName: "t"}, {ID: "rep_1", ProxyID: "p"}, {ID: "rep_2", ProxyID: "p", ToolName: "t"}, {ProxyID: "p", ToolName: "t"},
	}
	taken := get[client.Taken](r, client.PathStep, reports)
	why := "id, proxyId and toolName are needed"
	if diff := cmp.Diff(client.Taken{Refused: []client.Untaken{{Index: 1, Why: why}, {Index: 3, Why: why}}}, taken); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"rep_3", "rep_2"}, got); diff != "" {
		t.Error(diff)
	}
	if status, answer := r.post(client.PathStep, "[]"); status != http.StatusOK || answer != "{}" {
		t.Errorf("an empty list: %d %s", status, answer)
	}
}

func TestAFaultInAListIsToldSoThatItIsSentAgain(t *testing.T) {
	r := serve(t, Config{Book: &fakeBook{step: func(r client.StepReport) error {
		if r.ID == "rep_2" {
			return errors.New("the disk is gone")
		}
		return nil
	}}})
	status, answer := r.post(client.PathStep, `[{"id":"rep_1","proxyId":"p","toolName":"t"},{"id":"rep_2","proxyId":"p","toolName":"t"}]`)
	if status != http.StatusInternalServerError || strings.Contains(answer, "disk") {
		t.Errorf("%d %s", status, answer)
	}
}

func TestAFaultOfTheBookIsNotShown(t *testing.T) {
	var log bytes.Buffer
	r := serve(t, Config{Logger: textLog(&log), Book: &fakeBook{step: func(client.StepReport) error { return errors.New("open /secret/place") }}})
	status, answer := r.post(client.PathStep, `{"id":"rep_1","proxyId":"p","toolName":"t"}`)
	if status != http.StatusInternalServerError || strings.Contains(answer, "secret") {
		t.Errorf("status %d: %s", status, answer)
	}
	r.stop()
	r.ended()
	if !strings.Contains(log.String(), "open /secret/place") {
		t.Errorf("the log says %q", log.String())
	}
}

func TestReportsReachTheBook(t *testing.T) {
	var registered client.Register
	var step client.StepReport
	r := serve(t, Config{Book: &fakeBook{
		register: func(p client.Register) client.Registered {
			registered = p
			return client.Registered{CallIDs: true, FingerprintKey: "ab"}
		},
		step: func(s client.StepReport) error { step = s; return nil },
	}})
	proxy := client.Register{ProxyID: "prx_1", ServerName: "fleet", PID: 7, CWD: "/p"}
	got := get[client.Registered](r, client.PathRegister, proxy)
	if diff := cmp.Diff(client.Registered{Version: "1.2.3", CallIDs: true, FingerprintKey: "ab", Lists: true}, got); diff != "" {
		t.Error(diff)
	}
	report := client.StepReport{ID: "rep_1", ProxyID: "prx_1", ServerName: "fleet", ToolName: "list", Result: json.RawMessage(`{"n":1.0}`)}
	get[struct{}](r, client.PathStep, report)
	if diff := cmp.Diff(proxy, registered); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(report, step); diff != "" {
		t.Error(diff)
	}
}

func TestNoPlanIsArmedAndTheToolIsToldSo(t *testing.T) {
	r := serve(t, Config{})
	if got := get[client.ScenarioHelloed](r, client.PathScenarioHello, client.ScenarioHello{PID: 1}); !got.OK {
		t.Error("the hello was not answered")
	}
	got := get[client.ScenarioRan](r, client.PathScenarioRun, client.ScenarioRun{ToolUseID: "toolu_1"})
	if diff := cmp.Diff(client.ScenarioRan{Why: "no_plan"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestHealthSaysWhatTheServerIsAndDoes(t *testing.T) {
	r := serve(t, Config{Guards: func() string { return "compiling" }, Book: &fakeBook{seen: []client.Seen{{Event: "Stop", Count: 2}}}})
	r.missed.add("Stop")
	status, answer := r.do(http.MethodGet, client.PathHealth, "", nil)
	var h client.Health
	if err := json.Unmarshal([]byte(answer), &h); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, error %v", status, err)
	}
	if !h.OK || h.PID == 0 || h.Version != "1.2.3" || h.Root != "/p" || h.Steps != 7 || h.Guards != "compiling" || h.StartedAt.IsZero() {
		t.Errorf("health %+v", h)
	}
	if diff := cmp.Diff([]client.Seen{{Event: "Stop", Count: 2, Missed: 1}}, h.Events); diff != "" {
		t.Error(diff)
	}
}

func TestEveryHookEventHasARoute(t *testing.T) {
	told := make(chan string, 1)
	r := serve(t, Config{Book: &fakeBook{hook: func(name string, payload []byte) []byte {
		told <- name + " " + string(payload)
		return []byte(`{"for":"` + name + `"}`)
	}}})
	for _, e := range event.All() {
		status, answer := r.post(e.Path, `{"hook_event_name":"`+e.Name+`"}`)
		if status != http.StatusOK || answer != `{"for":"`+e.Name+`"}` {
			t.Errorf("%s: status %d: %s", e.Name, status, answer)
		}
		if got := <-told; got != e.Name+` {"hook_event_name":"`+e.Name+`"}` {
			t.Errorf("the book was told %s", got)
		}
	}
}
