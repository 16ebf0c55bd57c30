package web

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bir-run/bir/relay/headers"
)

// keeper is a server with sessions, of which it knows one at a time.
type keeper struct {
	mu     sync.Mutex // guards all below
	count  int
	known  string
	closed string        // the session that was deleted
	gets   chan struct{} // a token for each GET
	// hello, when set, answers initialize.
	hello func(w http.ResponseWriter, body string)
}

func newKeeper() *keeper { return &keeper{gets: make(chan struct{}, 100)} }

func (k *keeper) forget() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known = "gone"
}

func (k *keeper) answer(w http.ResponseWriter, r *http.Request, body string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id := r.Header.Get(headerSession)
	switch {
	case methodOf(body) == "initialize":
		k.count++
		k.known = "s" + strconv.Itoa(k.count)
		w.Header().Set(headerSession, k.known)
		if k.hello != nil {
			k.hello(w, body)
			return
		}
		echo(w, r, body)
	case id != k.known:
		w.WriteHeader(http.StatusNotFound)
		answerJSON(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`)
	case r.Method == http.MethodDelete:
		k.closed = id
	case r.Method == http.MethodGet:
		k.gets <- struct{}{}
		k.mu.Unlock()
		stream(w)(": open\n\n")
		<-r.Context().Done()
		k.mu.Lock()
	default:
		echo(w, r, body)
	}
}

func TestSessionAndVersionGoWithEveryRequest(t *testing.T) {
	k := newKeeper()
	s := serve(t, k.answer)
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready, call1)
	h.wants(done1)
	for _, method := range []string{"notifications/initialized", "tools/call"} {
		r := s.last(method)
		if r.Header.Get(headerSession) != "s1" || r.Header.Get(headers.Version) != "2025-11-25" {
			t.Errorf("%s: %v", method, r.Header)
		}
	}
	if r := s.last("initialize"); r.Header.Get(headerSession) != "" || r.Header.Get(headers.Version) != "" {
		t.Errorf("initialize: %v", r.Header)
	}
	<-k.gets // the server's own stream was opened
	h.up.Stop()
	if k.closed != "s1" {
		t.Error("the session was not ended")
	}
}

// A host on stdio may say all of its handshake at once.
func TestWhatFollowsTheHandshakeWaitsForIt(t *testing.T) {
	k := newKeeper()
	release := make(chan struct{})
	k.hello = func(w http.ResponseWriter, body string) {
		<-release
		echo(w, &http.Request{Method: http.MethodPost}, body)
	}
	s := serve(t, k.answer)
	h := wrap(t, Config{URL: s.URL})
	h.say(hello, ready, call1)
	s.await(1)
	close(release)
	h.wants(hi0)
	h.wants(done1)
	if r := s.last("tools/call"); r.Header.Get(headerSession) != "s1" {
		t.Errorf("the call has no session: %v", r.Header)
	}
}

func TestForgottenSessionIsRenewedUnseen(t *testing.T) {
	k := newKeeper()
	s := serve(t, k.answer)
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready)
	<-k.gets
	k.forget()
	h.say(call1)
	h.wants(done1)
	<-k.gets // and the stream of the new session
	h.up.Stop()
	h.silent()
	counts := map[string]int{}
	for _, r := range s.requests() {
		counts[methodOf(r.Body)]++
		if methodOf(r.Body) == "initialize" && r.Body != hello || methodOf(r.Body) == "notifications/initialized" && r.Body != ready {
			t.Errorf("not the host's own words: %s", r.Body)
		}
	}
	if counts["initialize"] != 2 || counts["notifications/initialized"] != 2 || counts["tools/call"] != 2 {
		t.Errorf("requests: %v", counts)
	}
	if r := s.last("tools/call"); r.Header.Get(headerSession) != "s2" || k.closed != "s2" {
		t.Errorf("session %q, ended %q", r.Header.Get(headerSession), k.closed)
	}
}

func TestManyRequestsRenewASessionOnce(t *testing.T) {
	k := newKeeper()
	s := serve(t, k.answer)
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready)
	<-k.gets
	k.forget()
	const n = 30
	for i := range n {
		h.say(`{"jsonrpc":"2.0","id":` + strconv.Itoa(100+i) + `,"method":"tools/call","params":{}}`)
	}
	for range n {
		if line := h.hear(); line[len(line)-len(`"result":{"ok":true}}`):] != `"result":{"ok":true}}` {
			t.Fatal(line)
		}
	}
	if k.count != 2 {
		t.Errorf("%d sessions were made, want 2", k.count)
	}
}

func TestRenewalReadsAnEventStreamToo(t *testing.T) {
	k := newKeeper()
	k.hello = func(w http.ResponseWriter, body string) {
		say := stream(w)
		say("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"n\":%d}}\n\n", k.count)
		say("data: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":\"2025-06-18\"}}\n\n")
	}
	s := serve(t, k.answer)
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(`{"jsonrpc":"2.0","method":"notifications/message","params":{"n":1}}`)
	h.wants(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18"}}`)
	h.say(ready)
	<-k.gets
	k.forget()
	h.say(call1)
	h.wants(`{"jsonrpc":"2.0","method":"notifications/message","params":{"n":2}}`)
	h.wants(done1)
}

func TestSessionIsRenewedOnlyOnce(t *testing.T) {
	k := newKeeper()
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodOf(body) == "tools/call" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		k.answer(w, r, body)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready, call1)
	h.wantsError("1", "HTTP 404")
	if k.count != 2 {
		t.Errorf("%d sessions, want 2", k.count)
	}
}

func TestRefusedRenewalIsOneError(t *testing.T) {
	k := newKeeper()
	s := serve(t, k.answer)
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready)
	<-k.gets
	k.mu.Lock()
	k.known = "gone"
	k.hello = func(w http.ResponseWriter, body string) {
		answerJSON(w, `{"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"no"}}`)
	}
	k.mu.Unlock()
	h.say(call1)
	h.wantsError("1", "refused another session")
}

// On the modern wire, and for an unknown method, 404 is no end of a session.
func TestNotFoundCanBeAboutTheMethod(t *testing.T) {
	k := newKeeper()
	const unknown = `{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}}`
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if idOf(body) == "5" {
			w.WriteHeader(http.StatusNotFound)
			answerJSON(w, unknown)
			return
		}
		k.answer(w, r, body)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready)
	h.say(`{"jsonrpc":"2.0","id":5,"method":"nope"}`)
	h.wants(unknown)
	h.say(modern("5", "nope", ""))
	h.wants(unknown)
	if k.count != 1 {
		t.Errorf("%d sessions, want 1", k.count)
	}
	if r := s.last("nope"); r.Header.Get(headerSession) != "" {
		t.Error("a modern request carries a session")
	}
}

func TestStopWaitsForOpenRequests(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		<-release
		echo(w, r, body)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	s.await(1)
	stopped := make(chan struct{})
	go func() { defer close(stopped); h.up.Stop() }()
	close(release)
	h.wants(done1)
	select {
	case <-stopped:
	case <-time.After(patience):
		t.Fatal("it does not stop")
	}
	if h.up.Status() != 0 {
		t.Errorf("status %d", h.up.Status())
	}
	if _, err := h.up.Write([]byte(call1 + "\n")); err == nil {
		t.Error("it still takes requests")
	}
}
