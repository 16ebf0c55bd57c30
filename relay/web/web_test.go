package web

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/relay/headers"
	"github.com/bir-run/bir/relay/relaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(relaytest.Settle(m)) }

const patience = relaytest.Patience

// host is a scripted host on the stdio side.
type host struct {
	t     *testing.T
	up    *Upstream
	heard chan string
}

// wrap opens an upstream and the host in front of it; both end with the test.
func wrap(t *testing.T, cfg Config) *host {
	t.Helper()
	if cfg.RetryDelay == 0 {
		cfg.RetryDelay = time.Millisecond
	}
	up, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, up: up, heard: make(chan string, 4096)}
	// Ends with the upstream.
	go h.listen()
	t.Cleanup(func() {
		up.Stop()
		up.Close()
	})
	return h
}

func (h *host) listen() {
	defer close(h.heard)
	in := bufio.NewReaderSize(h.up, 1<<16)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		h.heard <- strings.TrimSuffix(line, "\n")
	}
}

func (h *host) say(lines ...string) {
	h.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(h.up, line+"\n"); err != nil {
			h.t.Fatalf("say %.60q: %v", line, err)
		}
	}
}

func (h *host) hear() string {
	h.t.Helper()
	select {
	case line, ok := <-h.heard:
		if !ok {
			h.t.Fatal("the upstream has ended")
		}
		return line
	case <-time.After(patience):
		h.t.Fatal("nothing was said in time")
	}
	return ""
}

// wants hears one line and compares.
func (h *host) wants(line string) {
	h.t.Helper()
	if got := h.hear(); got != line {
		h.t.Fatalf("heard %.200q, want %.200q", got, line)
	}
}

// wantsError hears one error of ours: for the id, with this text.
func (h *host) wantsError(id, text string) {
	h.t.Helper()
	line := h.hear()
	var answer struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.JSONRPC != "2.0" {
		h.t.Fatalf("heard %.200q: %v", line, err)
	}
	if string(answer.ID) != id || !strings.Contains(answer.Error.Message, text) {
		h.t.Errorf("heard %.200q, want an error for %s with %q", line, id, text)
	}
	if c := answer.Error.Code; c == 0 || c >= -32768 && c <= -32000 {
		h.t.Errorf("code %d is not ours to use", c)
	}
}

// silent fails if something was said. It is asked after an event that would have
// come behind it.
func (h *host) silent() {
	h.t.Helper()
	select {
	case line, ok := <-h.heard:
		if ok {
			h.t.Errorf("heard %.200q, want nothing", line)
		}
	default:
	}
}

// got is one request as a server got it.
type got struct {
	Method string
	Header http.Header
	Body   string
	Path   string
}

// server is a scripted HTTP server that remembers what it got.
type server struct {
	*httptest.Server
	t   *testing.T
	mu  sync.Mutex // guards all below
	all []got
	new chan struct{} // a token for each request
}

// serve answers every request with one function, which gets the body too.
func serve(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, body string)) *server {
	t.Helper()
	s := &server{t: t, new: make(chan struct{}, 1<<16)}
	s.Server = httptest.NewServer(s.handler(answer))
	t.Cleanup(s.Close)
	return s
}

func (s *server) handler(answer func(w http.ResponseWriter, r *http.Request, body string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.all = append(s.all, got{r.Method, r.Header.Clone(), string(body), r.URL.String()})
		s.mu.Unlock()
		s.new <- struct{}{}
		answer(w, r, string(body))
	})
}

func (s *server) requests() []got {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]got(nil), s.all...)
}

// await waits for n more requests.
func (s *server) await(n int) {
	s.t.Helper()
	for range n {
		select {
		case <-s.new:
		case <-time.After(patience):
			s.t.Fatalf("a request did not come; there were %d", len(s.requests()))
		}
	}
}

// last is the last request with this JSON-RPC method.
func (s *server) last(method string) got {
	s.t.Helper()
	all := s.requests()
	for i := len(all) - 1; i >= 0; i-- {
		if gjson.Get(all[i].Body, "method").Str == method {
			return all[i]
		}
	}
	s.t.Fatalf("no %s among %d requests", method, len(all))
	return got{}
}

func answerJSON(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, body)
}

// stream begins an event stream and returns what writes to it at once.
func stream(w http.ResponseWriter) func(format string, args ...any) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	return func(format string, args ...any) {
		fmt.Fprintf(w, format, args...)
		w.(http.Flusher).Flush()
	}
}

func idOf(body string) string { return gjson.Get(body, "id").Raw }

func methodOf(body string) string { return gjson.Get(body, "method").Str }

// echo is a server without sessions that answers every request at once.
func echo(w http.ResponseWriter, r *http.Request, body string) {
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case idOf(body) == "" || methodOf(body) == "":
		w.WriteHeader(http.StatusAccepted)
	case methodOf(body) == "initialize":
		answerJSON(w, `{"jsonrpc":"2.0","id":`+idOf(body)+`,"result":{"protocolVersion":"2025-11-25"}}`)
	default:
		answerJSON(w, `{"jsonrpc":"2.0","id":`+idOf(body)+`,"result":{"ok":true}}`)
	}
}

const (
	hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}`
	ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	call1 = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`
	done1 = `{"jsonrpc":"2.0","id":1,"result":{"ok":true}}`
	hi0   = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`
)

func modern(id, method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
}

func TestEachLineIsOnePOST(t *testing.T) {
	s := serve(t, echo)
	h := wrap(t, Config{URL: s.URL + "/mcp?x=1"})
	h.say(call1)
	h.wants(done1)
	r := s.requests()[0]
	if r.Method != http.MethodPost || r.Body != call1 || r.Path != "/mcp?x=1" {
		t.Errorf("%+v", r)
	}
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Accept-Encoding": "identity", "User-Agent": "bir", headerSession: "", headers.Version: "",
	} {
		if got := r.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestLinesMayComeInAnyPieces(t *testing.T) {
	s := serve(t, echo)
	h := wrap(t, Config{URL: s.URL})
	for _, c := range []byte(call1 + "\r\n\n  \n") {
		if _, err := h.up.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	h.wants(done1)
	h.say(strings.ReplaceAll(call1, `"id":1`, `"id":2`) + "\n" + strings.ReplaceAll(call1, `"id":1`, `"id":3`))
	two := map[string]bool{h.hear(): true, h.hear(): true}
	want := map[string]bool{strings.ReplaceAll(done1, `"id":1`, `"id":2`): true, strings.ReplaceAll(done1, `"id":1`, `"id":3`): true}
	if diff := cmp.Diff(want, two); diff != "" {
		t.Error(diff)
	}
}

func TestLastLineNeedsNoEnd(t *testing.T) {
	s := serve(t, echo)
	h := wrap(t, Config{URL: s.URL})
	if _, err := h.up.Write([]byte(call1)); err != nil {
		t.Fatal(err)
	}
	h.up.CloseWrite()
	h.wants(done1)
	if _, more := <-h.heard; more {
		t.Error("it said more")
	}
}

func TestBytesPassUnchanged(t *testing.T) {
	const odd = `{"id" : 1e0 ,"method":"x/\u0079","jsonrpc":"2.0","params":{"b":1.0,"a":1e400,"n":-0,"big":9007199254740993,"s":"\/\u00e9é` + "\u2028\xff" + `<&>","a":2}}`
	const reply = `{"result":{"z":1.0,"a":1E5,"u":"\ud83d\ude00\/` + "\u2028\xfe" + `","a":null},"id" : 1e0,"x":[ 1 , 2 ]}`
	for _, streamed := range []bool{false, true} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
			if streamed {
				stream(w)("data: %s\n\n", reply)
				return
			}
			answerJSON(w, reply)
		})
		h := wrap(t, Config{URL: s.URL})
		h.say(odd)
		h.wants(reply)
		if got := s.requests()[0].Body; got != odd {
			t.Errorf("the server got %q", got)
		}
		h.up.Stop()
		h.silent()
	}
}

func TestWhatIsNoMessageGoesToTheServerToo(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if body == call1 {
			echo(w, r, body)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say("not JSON", `{"jsonrpc":"2.0"}`, call1)
	h.wants(done1)
	s.await(3)
	h.up.Stop()
	h.silent()
}
