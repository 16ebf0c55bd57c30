package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/relay/relaytest"
)

func TestEventsArriveAsTheyAreSent(t *testing.T) {
	next := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		say := stream(w)
		say("id: 1\r\ndata: \r\n\r\n: comment\nretry: 10\n\n")
		for i := range 3 {
			say("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\ndata:   \"params\":{\"n\":%d}}\n\n", i)
			<-next
		}
		say("event: other\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
		say("data: %s\n\n", done1)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	for i := range 3 {
		h.wants(`{"jsonrpc":"2.0","method":"notifications/progress",   "params":{"n":` + strconv.Itoa(i) + `}}`)
		next <- struct{}{}
	}
	h.wants(done1)
}

func TestServersRequestIsAnsweredByPOST(t *testing.T) {
	answered := make(chan string, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodOf(body) == "" {
			answered <- body
			w.WriteHeader(http.StatusAccepted)
			return
		}
		say := stream(w)
		say("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"}\n\n")
		say("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":%s}\n\n", <-answered)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	h.wants(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`)
	h.say(`{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
	h.wants(`{"jsonrpc":"2.0","id":1,"result":{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}}`)
}

func TestCutStreamIsResumedBehindItsLastEvent(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		say := stream(w)
		switch r.Header.Get(headerLastEventID) {
		case "": // the POST
			say("id: a\nretry: 1\ndata: \n\n")
		case "a":
			say("id: b\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\nid: c\ndata: cut")
		case "b":
			say("data: %s\n\n", done1)
		}
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	h.wants(`{"jsonrpc":"2.0","method":"notifications/message"}`)
	h.wants(done1)
	all := s.requests()
	if len(all) != 3 || all[1].Method != http.MethodGet || all[1].Header.Get("Accept") != "text/event-stream" {
		t.Errorf("%d requests, then %+v", len(all), all[1])
	}
}

func TestResumptionOutlastsABusyServer(t *testing.T) {
	refusals := 2
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodPost:
			stream(w)("id: 1\ndata: \n\n")
		case refusals > 0:
			refusals--
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			stream(w)("data: %s\n\n", done1)
		}
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	h.wants(done1)
}

func TestRetryIsHonoured(t *testing.T) {
	const wait = 300 * time.Millisecond
	var ended time.Time
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method == http.MethodGet {
			if waited := time.Since(ended); waited < wait {
				t.Errorf("it came back after %v, asked for %v", waited, wait)
			}
			stream(w)("data: %s\n\n", done1)
			return
		}
		stream(w)("id: a\nretry: 300\ndata: \n\n")
		ended = time.Now()
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	h.wants(done1)
}

func TestStreamThatCannotBeResumedIsOneError(t *testing.T) {
	for name, answer := range map[string]func(w http.ResponseWriter, r *http.Request){
		"no ids": func(w http.ResponseWriter, r *http.Request) {
			stream(w)("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n")
		},
		"refused": func(w http.ResponseWriter, r *http.Request) {
			stream(w)("id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n")
		},
		"reset": func(w http.ResponseWriter, r *http.Request) {
			stream(w)("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"resu")
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
				if r.Method == http.MethodGet {
					w.WriteHeader(http.StatusMethodNotAllowed)
					return
				}
				answer(w, r)
			})
			h := wrap(t, Config{URL: s.URL})
			h.say(call1)
			h.wants(`{"jsonrpc":"2.0","method":"x"}`)
			h.wantsError("1", "upstream")
			h.up.Stop()
			h.silent()
		})
	}
}

func TestStreamThatBringsNothingIsGivenUp(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if say := stream(w); r.Method == http.MethodPost {
			say("id: 1\nretry: 1\ndata: \n\n")
		}
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	h.wantsError("1", "ended its stream")
	if n := len(s.requests()); n != 1+maxBarren {
		t.Errorf("%d requests, want %d", n, 1+maxBarren)
	}
}

func TestServersOwnStreamIsKeptOpen(t *testing.T) {
	gets := make(chan string, 10)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if r.Method != http.MethodGet {
			echo(w, r, body)
			return
		}
		n := len(gets)
		gets <- r.Header.Get(headerLastEventID)
		say := stream(w)
		say("id: e%d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":{\"n\":%d}}\n\n", n, n)
		if n == 2 {
			<-r.Context().Done()
		}
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready)
	for i := range 3 {
		h.wants(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"n":` + strconv.Itoa(i) + `}}`)
	}
	for _, want := range []string{"", "e0", "e1"} {
		if got := <-gets; got != want {
			t.Errorf("Last-Event-ID %q, want %q", got, want)
		}
	}
}

func TestAnswerMayComeOnAnotherStream(t *testing.T) {
	called := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch {
		case r.Method == http.MethodGet:
			<-called
			stream(w)("data: %s\n\n", done1)
			<-r.Context().Done()
		case methodOf(body) == "tools/call":
			stream(w)("id: 1\ndata: \n\n")
			close(called)
			<-r.Context().Done()
		default:
			echo(w, r, body)
		}
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready, call1)
	h.wants(done1)
	h.up.Stop()
	h.silent()
}

func TestGzipIsUnpackedAsItComes(t *testing.T) {
	next := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		if idOf(body) == "2" {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(z, `{"jsonrpc":"2.0","id":2,"result":{}}`)
			z.Close()
			return
		}
		stream(w)
		say := func(text string) {
			io.WriteString(z, text)
			z.Flush()
			w.(http.Flusher).Flush()
		}
		say("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n")
		<-next
		say("data: " + done1 + "\n\n")
		z.Close()
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	h.wants(`{"jsonrpc":"2.0","method":"x"}`)
	close(next)
	h.wants(done1)
	h.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	h.wants(`{"jsonrpc":"2.0","id":2,"result":{}}`)
}

func TestCancelOnTheLegacyWireIsANotification(t *testing.T) {
	cancelled := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodOf(body) == "notifications/cancelled" {
			close(cancelled)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		say := stream(w)
		select {
		case <-cancelled:
			say("data: %s\n\n", done1) // late, but the host's to judge
		case <-r.Context().Done():
			t.Error("the stream was closed, which is no cancel on this wire")
		}
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	s.await(1)
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	h.wants(done1)
}

func TestCancelledRequestGetsNoErrorOfOurs(t *testing.T) {
	cancelled := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch methodOf(body) {
		case "notifications/cancelled":
			w.WriteHeader(http.StatusAccepted)
			close(cancelled)
		case "tools/call":
			stream(w)
			<-cancelled // and the stream ends without an answer
		default:
			echo(w, r, body)
		}
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	s.await(1)
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-cancelled
	h.up.Stop()
	h.silent()
}

func TestCancelOnTheModernWireEndsTheStream(t *testing.T) {
	ended := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodOf(body) == "ping" {
			echo(w, r, body)
			return
		}
		stream(w)
		<-r.Context().Done()
		close(ended)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(modern("1", "tools/call", `"name":"slow","arguments":{}`))
	s.await(1)
	h.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-ended
	h.say(modern("2", "ping", ""))
	h.wants(`{"jsonrpc":"2.0","id":2,"result":{"ok":true}}`)
	for _, r := range s.requests() {
		if methodOf(r.Body) == "notifications/cancelled" {
			t.Error("the server got a notification too")
		}
	}
}

func TestNotificationsKeepTheirOrder(t *testing.T) {
	s := serve(t, echo)
	h := wrap(t, Config{URL: s.URL})
	const n = 50
	for i := range n {
		h.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":` + strconv.Itoa(i) + `}}`)
	}
	s.await(n)
	for i, r := range s.requests() {
		if want := `{"progress":` + strconv.Itoa(i) + `}`; r.Body[len(r.Body)-len(want)-1:len(r.Body)-1] != want {
			t.Fatalf("request %d is %s", i, r.Body)
		}
	}
}

func TestSubscriptionDoesNotKeepTheEnd(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		stream(w)("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		<-r.Context().Done()
	})
	relaytest.Within(t, drainTimeout, func() time.Duration {
		h := wrap(t, Config{URL: s.URL})
		h.say(modern("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`))
		h.wants(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		began := time.Now()
		h.up.Stop()
		took := time.Since(began)
		h.silent()
		return took
	})
}

// A legacy client may name its revision in _meta too.
func TestOldRevisionInMetaIsNotTheModernEra(t *testing.T) {
	s := serve(t, echo)
	h := wrap(t, Config{URL: s.URL})
	h.say(strings.ReplaceAll(modern("1", "tools/call", ""), "2026-07-28", "2025-11-25"))
	h.wants(done1)
	if got := mcpHeaders(s.requests()[0].Header); len(got) > 0 {
		t.Errorf("headers %v", got)
	}
}
