package front

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/relaytest"
	"github.com/bir-run/bir/relay/web"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(relaytest.Settle(m)) }

// stand puts a front before a handler. The function ends it, which completes the
// record.
func stand(t *testing.T, upstream http.Handler) (url string, rec *relaytest.Recorder, end func()) {
	t.Helper()
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	rec = relaytest.NewRecorder(t)
	url, end = standBefore(t, server.URL+"/mcp", rec)
	return url, rec, end
}

func standBefore(t *testing.T, server string, rec *relaytest.Recorder) (url string, end func()) {
	t.Helper()
	cfg := Config{Server: web.Config{URL: server, Header: map[string]string{"X-Static": "s"}}, Name: "fleet"}
	if rec != nil {
		cfg.Record = relay.Record{Recorder: rec, Tier: recorder.TierStandalone}
	}
	f, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- f.Serve(ctx, l) }()
	end = sync.OnceFunc(func() {
		http.DefaultClient.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(end)
	return "http://" + l.Addr().String(), end
}

const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"n":9007199254740993},"_meta":{"claudecode/toolUseId":"toolu_1"}}}`

func post(t *testing.T, url, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestStatusHeadersAndBodyPassUnchanged(t *testing.T) {
	var got *http.Request
	var body []byte
	url, _, _ := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		got = r
		w.Header()["X-Odd"] = []string{"a", "b"}
		w.Header().Set("Mcp-Session-Id", "s")
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="x"`)
		w.Header()["Content-Type"] = nil
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "<html>not\r\n\x00JSON")
	}))
	res := post(t, url+"/other%2Fpath?q=%20", "\xff{ not JSON", "X-In", "1", "Connection", "X-Hop", "X-Hop", "gone", "Accept-Encoding", "br, gzip")
	if body := text(t, res); res.StatusCode != http.StatusTeapot || body != "<html>not\r\n\x00JSON" {
		t.Errorf("%d %q", res.StatusCode, body)
	}
	if diff := cmp.Diff([]string{"a", "b"}, res.Header["X-Odd"]); diff != "" || res.Header["Content-Type"] != nil ||
		res.Header.Get("Mcp-Session-Id") != "s" || res.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("%s %v", diff, res.Header)
	}
	if string(body) != "\xff{ not JSON" || got.URL.String() != "/other%2Fpath?q=%20" || got.Header.Get("X-In") != "1" ||
		got.Header.Get("X-Hop") != "" || got.Header.Get("X-Static") != "s" || got.Header.Get("Accept-Encoding") != "br, gzip" {
		t.Errorf("%s %v %q", got.URL, got.Header, body)
	}
	if strings.Contains(url, got.Host) {
		t.Errorf("the server was called %s, which is the front", got.Host)
	}
	post(t, url+"/", "x")
	if got.URL.Path != "/mcp" {
		t.Errorf("the root leads to %s", got.URL.Path)
	}
}

func TestStreamsPassPieceByPiece(t *testing.T) {
	next := make(chan struct{})
	url, rec, _ := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range []string{": hi\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"resu", "lt\":{\"content\":[]}}\r\n\r\n"} {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
			<-next
		}
	}))
	res := post(t, url, call)
	in := bufio.NewReader(res.Body)
	for _, want := range []string{": hi\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"resu", "lt\":{\"content\":[]}}\r\n\r\n"} {
		got := make([]byte, len(want))
		if _, err := io.ReadFull(in, got); err != nil || string(got) != want {
			t.Fatalf("%q, %v", got, err)
		}
		next <- struct{}{}
	}
	rec.Await(1)
}

// recorded is what matters of a recorded call.
type recorded struct {
	ID, Tool, Args, Result, Error string
	Status                        recorder.Status
}

func see(calls []recorder.Call) []recorded {
	var out []recorded
	for _, c := range calls {
		id := c.ID
		if strings.HasPrefix(id, "call_") {
			id = ""
		}
		out = append(out, recorded{id, c.ToolName, string(c.Args), string(c.Result), c.Error, c.Status})
	}
	return out
}

func TestCallsAreRecordedHoweverTheyAreAnswered(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"é"}],"n":1.0}`
	ok := recorded{"toolu_1", "echo", `{"n":9007199254740993}`, result, "", recorder.StatusOK}
	zip := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		io.WriteString(z, text)
		z.Close()
		return b.String()
	}
	for name, c := range map[string]struct {
		kind, encoding, body string
		status               int
		want                 recorded
	}{
		"JSON":               {"application/json", "", "{\n\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + result + "}\n", 200, ok},
		"JSON, packed":       {"application/json", "gzip", zip(`{"result":` + result + `,"jsonrpc":"2.0","id":1}`), 200, ok},
		"a stream":           {"text/event-stream; charset=utf-8", "", "id: 1\ndata: \n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":" + result + "}\n\n", 200, ok},
		"a stream, packed":   {"text/event-stream", "gzip", zip("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + result + "}\n\n"), 200, ok},
		"a batch":            {"application/json", "", `[{"jsonrpc":"2.0","id":7,"result":{}},{"jsonrpc":"2.0","id":1,"result":` + result + `}]`, 200, ok},
		"an error":           {"application/json", "", `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}`, 400, recorded{ID: "toolu_1", Tool: "echo", Args: ok.Args, Error: "no such tool", Status: recorder.StatusRPCError}},
		"a tool that failed": {"application/json", "", `{"jsonrpc":"2.0","id":1,"result":{"isError":true}}`, 200, recorded{ID: "toolu_1", Tool: "echo", Args: ok.Args, Result: `{"isError":true}`, Status: recorder.StatusToolError}},
		"a refusal":          {"text/plain", "", "no", 401, recorded{ID: "toolu_1", Tool: "echo", Args: ok.Args, Error: "HTTP 401", Status: recorder.StatusRPCError}},
		"an empty stream":    {"text/event-stream", "", "", 200, recorded{ID: "toolu_1", Tool: "echo", Args: ok.Args, Error: "the stream ended before the answer", Status: recorder.StatusRPCError}},
		"a huge answer":      {"application/json", "", `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", maxCopyBytes) + `"}`, 200, recorded{ID: "toolu_1", Tool: "echo", Args: ok.Args, Result: fmt.Sprintf(`{"truncated":true,"originalBytes":%d}`, maxCopyBytes+36), Status: recorder.StatusOK}},
	} {
		t.Run(name, func(t *testing.T) {
			url, rec, _ := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept-Encoding") != "gzip" {
					t.Errorf("asks for %q, which the copy may not undo", r.Header.Get("Accept-Encoding"))
				}
				w.Header().Set("Content-Type", c.kind)
				if c.encoding != "" {
					w.Header().Set("Content-Encoding", c.encoding)
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}))
			res := post(t, url, call, "Accept-Encoding", "gzip, br")
			if got := text(t, res); got != c.body || res.StatusCode != c.status {
				t.Errorf("%d, %d bytes instead of %d", res.StatusCode, len(got), len(c.body))
			}
			rec.Await(1)
			if diff := cmp.Diff([]recorded{c.want}, see(rec.Calls())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLargeCallIsRecordedAndPassedOn(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	var got int
	url, rec, _ := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = len(body)
		io.WriteString(w, `{"jsonrpc":"2.0","id":"a","result":{}}`)
	}))
	body := "{\"jsonrpc\":\"2.0\",\n\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"x\":\"" + big + "\"}},\r\n\"id\":\"a\"\n}"
	text(t, post(t, url, body))
	rec.Await(1)
	if c := rec.Calls()[0]; got != len(body) || c.Status != recorder.StatusOK || len(c.Args) < len(big) {
		t.Errorf("%d bytes of %d passed, %s, %d bytes of arguments", got, len(body), c.Status, len(c.Args))
	}
}

func TestClientsMayUseTheSameIDs(t *testing.T) {
	var arrived sync.WaitGroup
	arrived.Add(2)
	url, rec, end := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		name := "one"
		if bytes.Contains(body, []byte("two")) {
			name = "two"
		}
		arrived.Done()
		arrived.Wait()
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"result":{"of":%q}}`, name)
	}))
	var both sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		both.Go(func() {
			post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`)
		})
	}
	both.Wait()
	rec.Await(2)
	end()
	for _, c := range rec.Calls() {
		if want := `{"of":"` + c.ToolName + `"}`; string(c.Result) != want {
			t.Errorf("%s: %s", c.ToolName, c.Result)
		}
	}
	if runs := rec.Runs(); len(runs) != 1 || len(rec.Ends()) != 1 || rec.Ends()[0].Lossy {
		t.Errorf("%d runs, ends %+v", len(runs), rec.Ends())
	}
}

func TestAnswerMayComeOnAnotherStreamOfTheSession(t *testing.T) {
	url, rec, _ := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if r.Method == http.MethodGet {
			io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
			return
		}
		io.WriteString(w, "id: 1\ndata: \n\n")
	}))
	text(t, post(t, url, call, "Mcp-Session-Id", "s"))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Mcp-Session-Id", "s")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text(t, res)
	rec.Await(1)
	if got := rec.Calls()[0]; got.Status != recorder.StatusOK || string(got.Result) != "{}" {
		t.Errorf("%+v", got)
	}
}

func TestModernClientCancelsByGoingAway(t *testing.T) {
	began, ended := make(chan struct{}), make(chan struct{})
	url, rec, end := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		close(began)
		<-r.Context().Done()
		close(ended)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url,
		strings.NewReader(strings.Replace(call, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	<-began
	cancel()
	<-ended
	end()
	if got := see(rec.Calls()); len(got) != 1 || got[0].Status != recorder.StatusCancelled {
		t.Errorf("%+v", got)
	}
}

func TestOnlyProgramsOnThisMachineAreAnswered(t *testing.T) {
	reached := 0
	url, _, _ := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { reached++ }))
	for _, c := range []struct {
		name, value string
		want        int
	}{
		{"Origin", "http://evil.example", 403}, {"Origin", "null", 403}, {"Origin", "http://127.0.0.1.evil.example", 403}, {"Origin", "http://localhost@evil.example/", 403},
		{"Host", "evil.example", 403}, {"Host", "127.0.0.1.evil.example:80", 403}, {"Host", "", 200}, {"Host", "0.0.0.0", 403},
		{"Origin", "http://localhost:6274", 200}, {"Origin", "https://127.0.0.1", 200}, {"Origin", "http://[::1]:80", 200},
		{"Host", "localhost", 200}, {"Host", "LOCALHOST:1", 200}, {"Host", "[::1]:99", 200}, {"Host", "127.8.8.8", 200},
	} {
		before := reached
		res := post(t, url, "{}", c.name, c.value)
		if res.StatusCode != c.want || (reached > before) != (c.want == 200) {
			t.Errorf("%s %q: %d", c.name, c.value, res.StatusCode)
		}
	}
}

func TestUnreachableServerIsAnError(t *testing.T) {
	rec := relaytest.NewRecorder(t)
	url, _ := standBefore(t, relaytest.Nobody, rec)
	res := post(t, url, call)
	if got := text(t, res); res.StatusCode != 502 || !strings.Contains(got, `"id":1,`) || !strings.Contains(got, "upstream unreachable") {
		t.Errorf("%d %s", res.StatusCode, got)
	}
	rec.Await(1)
	if res := post(t, url, "x"); res.StatusCode != 502 {
		t.Errorf("%d", res.StatusCode)
	}
}

func TestCutAnswerIsCutForTheClientToo(t *testing.T) {
	url, _, _ := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}))
	res := post(t, url, call)
	if b, err := io.ReadAll(res.Body); err == nil || string(b) != "half" {
		t.Errorf("%q, %v", b, err)
	}
}

// An answer that begins before the request's body has ended is not cut short.
func TestEarlyAnswerToALargeRequestIsWhole(t *testing.T) {
	big := strings.Repeat("y", 512<<10)
	url, _, _ := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, big)
		io.Copy(io.Discard, r.Body)
	}))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := text(t, post(t, url, big)); got != big {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
	all.Wait()
}

func TestOpenStreamsDoNotKeepTheFront(t *testing.T) {
	relaytest.Within(t, drainTimeout, func() time.Duration {
		url, _, end := stand(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		began := time.Now()
		end()
		return time.Since(began)
	})
}

func TestWithoutARecorderNothingIsCopied(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("Accept-Encoding"))
	}))
	defer server.Close()
	url, _ := standBefore(t, server.URL, nil)
	if got := text(t, post(t, url, call, "Accept-Encoding", "br")); got != "br" {
		t.Errorf("asked for %q", got)
	}
}
