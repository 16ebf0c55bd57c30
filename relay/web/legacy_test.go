package web

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/relay/headers"
)

// oldServer is a server of the legacy transport. It answers on the stream that was
// opened last.
type oldServer struct {
	mu       sync.Mutex // guards all below
	count    int
	say      func(format string, args ...any)
	cut      chan struct{} // closes the stream
	endpoint func(n int) string
	answer   func(b *oldServer, w http.ResponseWriter, body string) // nil answers at once
}

func (b *oldServer) serve(w http.ResponseWriter, r *http.Request, body string) {
	if r.Method == http.MethodGet {
		b.mu.Lock()
		b.count++
		b.say, b.cut = stream(w), make(chan struct{})
		cut := b.cut
		b.say("event: endpoint\ndata: %s\n\n", b.endpoint(b.count))
		b.mu.Unlock()
		select {
		case <-cut:
		case <-r.Context().Done():
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.cut == cut {
			b.say = func(string, ...any) {} // to nobody
		}
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.answer != nil {
		b.answer(b, w, body)
		return
	}
	b.reply(w, body)
}

// reply is what most servers do.
func (b *oldServer) reply(w http.ResponseWriter, body string) {
	w.WriteHeader(http.StatusAccepted)
	io.WriteString(w, "Accepted")
	if id := idOf(body); id != "" && methodOf(body) == "initialize" {
		b.say("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"protocolVersion\":\"2025-11-25\"}}\n\n", id)
	} else if id != "" {
		b.say("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"ok\":true}}\n\n", id)
	}
}

// cutStream ends the stream. Nothing more is said on it, although its handler may not
// have noticed yet.
func (b *oldServer) cutStream() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.say = func(string, ...any) {}
	close(b.cut)
}

func message1(n int) string { return "message?sessionId=" + strconv.Itoa(n) }

func TestLegacyTransportCarriesAConversation(t *testing.T) {
	b := &oldServer{endpoint: message1}
	s := serve(t, b.serve)
	h := wrap(t, Config{URL: s.URL + "/base/sse", Transport: SSE, Header: map[string]string{"X-Key": "k"}})
	h.say(hello)
	h.wants(hi0)
	h.say(ready, call1)
	h.wants(done1)
	r := s.last("tools/call")
	if r.Path != "/base/message?sessionId=1" || r.Header.Get("X-Key") != "k" || r.Header.Get(headers.Version) != "2025-11-25" {
		t.Errorf("%s %v", r.Path, r.Header)
	}
	b.mu.Lock()
	b.say("data: {\"jsonrpc\":\"2.0\",\"id\":0,\n")
	b.say("data: \"method\":\"roots/list\"}\n\n")
	b.mu.Unlock()
	h.wants(`{"jsonrpc":"2.0","id":0, "method":"roots/list"}`)
	h.up.Stop()
	if h.up.Status() != 0 {
		t.Errorf("status %d", h.up.Status())
	}
}

func TestEndpointMayBeRelativeOrAbsolute(t *testing.T) {
	for name, endpoint := range map[string]func(url string) string{
		"absolute path": func(string) string { return "/m" }, "relative": func(string) string { return "../m" }, "whole": func(url string) string { return url + "/m" },
	} {
		t.Run(name, func(t *testing.T) {
			var s *server
			b := &oldServer{endpoint: func(int) string { return endpoint(s.URL) }}
			s = serve(t, b.serve)
			h := wrap(t, Config{URL: s.URL + "/a/sse", Transport: SSE})
			h.say(call1)
			h.wants(done1)
			if r := s.last("tools/call"); r.Path != "/m" {
				t.Errorf("posted to %s", r.Path)
			}
		})
	}
}

func TestEndpointOfAnotherOriginIsRefused(t *testing.T) {
	other := serve(t, echo)
	for _, endpoint := range []string{other.URL + "/m", "//127.0.0.2/m", "http://%zz"} {
		b := &oldServer{endpoint: func(int) string { return endpoint }}
		s := serve(t, b.serve)
		h := wrap(t, Config{URL: s.URL, Transport: SSE})
		h.wantsEnd(1)
	}
	if len(other.requests()) > 0 {
		t.Error("the other origin got a request")
	}
}

// wantsEnd waits until the upstream has ended with this status.
func (h *host) wantsEnd(status int) {
	h.t.Helper()
	select {
	case <-h.up.Exited():
	case <-time.After(patience):
		h.t.Fatal("it does not end")
	}
	if h.up.Status() != status {
		h.t.Errorf("status %d, want %d", h.up.Status(), status)
	}
}

// A server that cannot be reached at first is like a process that does not start.
func TestFailedFirstConnectAnswersAndEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // one connection that says nothing, and is closed when the request is there
		c, err := l.Accept()
		if err == nil {
			c.Read(make([]byte, 1))
			c.Close()
		}
	}()
	h := wrap(t, Config{URL: "http://" + l.Addr().String(), Transport: SSE})
	_, _ = io.WriteString(h.up, call1+"\n") // it may have ended by then
	h.wantsEnd(1)
	if line, said := <-h.heard; said && !strings.Contains(line, "upstream connection lost") {
		t.Errorf("said %s", line)
	}
}

func TestSignInIsAskedForOnTheLegacyTransport(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
			return
		}
	})
	h := wrap(t, Config{URL: s.URL, Transport: SSE, ConnectTimeout: time.Second}) // in which even a busy machine says a line
	h.say(call1)
	h.wantsError("1", "no event stream within 1s")
	h.wantsEnd(1)

	b := &oldServer{endpoint: message1, answer: func(b *oldServer, w http.ResponseWriter, body string) { w.WriteHeader(http.StatusUnauthorized) }}
	s = serve(t, b.serve)
	h = wrap(t, Config{URL: s.URL, Transport: SSE})
	h.say(call1)
	h.wantsError("1", "upstream requires sign-in (HTTP 401)")
}

func TestLostStreamIsOpenedAgainWithTheHandshake(t *testing.T) {
	b := &oldServer{endpoint: message1}
	b.answer = func(b *oldServer, w http.ResponseWriter, body string) {
		if gjson.Get(body, "params.name").Str == "slow" {
			w.WriteHeader(http.StatusAccepted)
			close(b.cut)
			return
		}
		b.reply(w, body)
	}
	s := serve(t, b.serve)
	h := wrap(t, Config{URL: s.URL, Transport: SSE, RetryDelay: time.Hour}) // a request does not wait for that
	h.say(hello)
	h.wants(hi0)
	h.say(ready)
	h.say(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"slow"}}`)
	h.wantsError("7", "ended its stream")
	h.say(call1)
	h.wants(done1)
	if r := s.last("tools/call"); r.Path != "/message?sessionId=2" {
		t.Errorf("posted to %s", r.Path)
	}
	hellos := 0
	for _, r := range s.requests() {
		if r.Body == hello || r.Body == ready {
			hellos++
		}
	}
	if hellos != 4 {
		t.Errorf("%d messages of the handshake, want 4", hellos)
	}
	h.up.Stop()
	h.silent()
}

func TestServerThatComesBackIsFoundAgain(t *testing.T) {
	b := &oldServer{endpoint: message1}
	down := false
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		b.mu.Lock()
		gone := down && r.Method == http.MethodGet
		b.mu.Unlock()
		if gone {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		b.serve(w, r, body)
	})
	h := wrap(t, Config{URL: s.URL, Transport: SSE, RetryDelay: time.Hour})
	h.say(hello)
	h.wants(hi0)
	h.say(ready)
	s.await(3)
	b.mu.Lock()
	down = true
	b.mu.Unlock()
	b.cutStream()
	h.say(call1)
	h.wantsError("1", "upstream")
	b.mu.Lock()
	down = false
	b.mu.Unlock()
	for i := range 100 { // the first may still see the outcome before
		h.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, 100+i))
		if strings.Contains(h.hear(), `"ok":true`) {
			return
		}
	}
	t.Error("the server was not found again")
}

func TestTooLargeAnswerOnTheLegacyStream(t *testing.T) {
	b := &oldServer{endpoint: message1}
	b.answer = func(b *oldServer, w http.ResponseWriter, body string) {
		w.WriteHeader(http.StatusAccepted)
		if idOf(body) == "1" {
			b.say(`data: {"result":"%s","jsonrpc":"2.0","id":1}`+"\n\n", strings.Repeat("x", 9000))
			return
		}
		b.say(`data: {"jsonrpc":"2.0","id":2,"result":{}}` + "\n\n")
	}
	s := serve(t, b.serve)
	h := wrap(t, Config{URL: s.URL, Transport: SSE, MaxMessageBytes: 4096})
	h.say(call1)
	h.wantsError("1", "upstream answer too large")
	h.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	h.wants(`{"jsonrpc":"2.0","id":2,"result":{}}`)
}

func TestLegacyCancelIsANotification(t *testing.T) {
	b := &oldServer{endpoint: message1}
	b.answer = func(b *oldServer, w http.ResponseWriter, body string) {
		w.WriteHeader(http.StatusAccepted)
		if methodOf(body) == "notifications/cancelled" {
			b.say("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n")
		}
	}
	s := serve(t, b.serve)
	h := wrap(t, Config{URL: s.URL, Transport: SSE})
	h.say(call1)
	s.await(2)
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	h.wants(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	h.up.Stop() // without a wait for what the host gave up on
	h.silent()
}
