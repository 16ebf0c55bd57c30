package web

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/relay/relaytest"
)

func TestEveryBadAnswerIsOneErrorWithTheID(t *testing.T) {
	const leak = "SECRET-BODY"
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"401":               {func(w http.ResponseWriter) { w.WriteHeader(401); io.WriteString(w, leak) }, "upstream requires sign-in (HTTP 401)"},
		"403 with an error": {func(w http.ResponseWriter) { w.WriteHeader(403); io.WriteString(w, done1) }, "upstream requires sign-in (HTTP 403)"},
		"500":               {func(w http.ResponseWriter) { http.Error(w, leak, 500) }, "HTTP 500"},
		"an error for nobody": {func(w http.ResponseWriter) {
			w.WriteHeader(400)
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"`+leak+`"}}`)
		}, "HTTP 400"},
		"404 without a session": {func(w http.ResponseWriter) { w.WriteHeader(404) }, "HTTP 404"},
		"202":                   {func(w http.ResponseWriter) { w.WriteHeader(202) }, "gave no answer (HTTP 202)"},
		"204":                   {func(w http.ResponseWriter) { w.WriteHeader(204) }, "gave no answer (HTTP 204)"},
		"an HTML page": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			io.WriteString(w, "<html>"+leak)
		}, "text/html"},
		"an empty body":             {func(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }, "no JSON-RPC message"},
		"half a message":            {func(w http.ResponseWriter) { answerJSON(w, `{"jsonrpc":"2.0","id":1,"resul`) }, "no JSON-RPC message"},
		"JSON that is no message":   {func(w http.ResponseWriter) { answerJSON(w, `"ok"`) }, "no JSON-RPC message"},
		"an empty stream":           {func(w http.ResponseWriter) { stream(w) }, "ended its stream"},
		"a reset before any answer": {func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }, "upstream connection lost"},
		"a body cut short": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,`)
			panic(http.ErrAbortHandler)
		}, "upstream connection lost"},
		"a body that is said to be too large": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "5000")
			io.WriteString(w, strings.Repeat(" ", 5000))
		}, "upstream answer too large"},
		"a body that turns out too large": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.(http.Flusher).Flush()
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("x", 50_000)+`"}`)
		}, "upstream answer too large"},
		"an event that is too large": {func(w http.ResponseWriter) {
			stream(w)(`data: {"result":"%s","id":1,"jsonrpc":"2.0"}`+"\n\n", strings.Repeat("x", 50_000))
		}, "upstream answer too large"},
		"a redirect that loses the body": {func(w http.ResponseWriter) { w.Header().Set("Location", "/x"); w.WriteHeader(302) }, "HTTP 302"},
		"a redirect elsewhere":           {func(w http.ResponseWriter) { w.Header().Set("Location", "http://127.0.0.2/"); w.WriteHeader(307) }, "another origin"},
		"a redirect to nowhere":          {func(w http.ResponseWriter) { w.WriteHeader(308) }, "nowhere"},
		"a redirect without end":         {func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(307) }, "too often"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
				if idOf(body) == "2" {
					answerJSON(w, `{"jsonrpc":"2.0","id":2,"result":{}}`)
					return
				}
				c.answer(w)
			})
			var log bytes.Buffer
			h := wrap(t, Config{URL: s.URL, MaxMessageBytes: 4096, Log: slog.New(slog.NewTextHandler(&log, nil))})
			h.say(call1)
			h.wantsError("1", c.want)
			h.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			h.wants(`{"jsonrpc":"2.0","id":2,"result":{}}`)
			h.up.Stop()
			h.silent()
			if strings.Contains(log.String(), leak) {
				t.Errorf("the log repeats the body: %s", log.String())
			}
		})
	}
}

func TestJSONRPCErrorOfTheRequestPassesAsItIs(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0",  "id":1,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2025-11-25"]}}}`
	for _, status := range []int{400, 404, 500} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
			w.WriteHeader(status)
			io.WriteString(w, refusal+"\n")
		})
		h := wrap(t, Config{URL: s.URL})
		h.say(call1)
		h.wants(refusal)
	}
}

func TestUnreachableServerAnswersEachRequest(t *testing.T) {
	h := wrap(t, Config{URL: relaytest.Nobody + "/mcp", Header: map[string]string{"X-Key": "SECRET"}})
	for range 2 {
		h.say(call1)
		h.wantsError("1", "upstream unreachable: ")
	}
	h.say(strings.ReplaceAll(call1, `"id":1`, `"id":"a"`))
	h.wantsError(`"a"`, "refused")
}

// A listener that never accepts lets the first connections in, so the proxy is what
// does not answer here.
func TestConnectingIsBounded(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	h := wrap(t, Config{URL: "https://" + l.Addr().String() + "/mcp", ConnectTimeout: 50 * time.Millisecond})
	h.say(call1)
	h.wantsError("1", "upstream unreachable: ")
}

func TestRedirectsWithinTheOriginKeepBodyAndHeaders(t *testing.T) {
	for _, status := range []int{307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
			if r.URL.Path == "/mcp" {
				w.Header().Set("Location", "/elsewhere?x=1")
				w.WriteHeader(status)
				return
			}
			if r.Header.Get("X-Key") != "k" || body != call1 {
				t.Errorf("redirected with %v, %s", r.Header, body)
			}
			echo(w, r, body)
		})
		h := wrap(t, Config{URL: s.URL + "/mcp", Header: map[string]string{"X-Key": "k"}})
		h.say(call1)
		h.wants(done1)
	}
}

func TestOtherOriginGetsNothing(t *testing.T) {
	other := serve(t, echo)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header().Set("Location", other.URL+"/mcp")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	h := wrap(t, Config{URL: s.URL, Header: map[string]string{"X-Key": "k"}})
	h.say(call1)
	h.wantsError("1", "another origin")
	if n := len(other.requests()); n > 0 {
		t.Errorf("the other origin got %d requests", n)
	}
}

func TestBatchIsAnsweredForEachOfItsRequests(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"n"},{"jsonrpc":"2.0","id":"2","method":"b"},{"jsonrpc":"2.0","id":3,"method":"c"}]`
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		answerJSON(w, "[\n {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\r\n]\n")
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(batch)
	h.wants(`[  {"jsonrpc":"2.0","id":3,"result":{}}  ]`)
	h.wantsError("1", "something else")
	h.wantsError(`"2"`, "something else")
	h.up.Stop()
	h.silent()
}

func TestTooLargeMessagesEndWhatTheyWereFor(t *testing.T) {
	refused := make(chan string, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if methodOf(body) == "" {
			refused <- body
			return
		}
		say := stream(w)
		say(`data: {"jsonrpc":"2.0","method":"notifications/message","params":"%s"}`+"\n\n", strings.Repeat("x", 5000))
		say(`data: {"jsonrpc":"2.0","method":"sampling/createMessage","params":"%s","id":"s"}`+"\n\n", strings.Repeat("x", 5000))
		say("data: %s\n\n", done1)
	})
	h := wrap(t, Config{URL: s.URL, MaxMessageBytes: 4096})
	h.say(call1)
	h.wants(done1)
	if got := <-refused; !strings.Contains(got, `"id":"s"`) || !strings.Contains(got, "-32600") {
		t.Errorf("the server's request was answered with %s", got)
	}
	h.say(`{"jsonrpc":"2.0","method":"tools/call","params":"` + strings.Repeat("x", 5000) + `","id":"big"}`)
	h.wantsError(`"big"`, "too large")
}

func TestDuplicateIDsAreEachAnswered(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		<-release
		if strings.Contains(body, "two") {
			w.WriteHeader(500)
			return
		}
		echo(w, r, body)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(call1, `{"jsonrpc":"2.0","id":1,"method":"two"}`)
	s.await(2)
	close(release)
	one, two := h.hear(), h.hear()
	if one == two || one != done1 && two != done1 {
		t.Errorf("answers %s and %s", one, two)
	}
}

func TestProxyIsUsed(t *testing.T) {
	var through []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through = append(through, r.URL.String())
		answerJSON(w, done1)
	}))
	defer proxy.Close()
	to, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	h := wrap(t, Config{URL: "http://mcp.example.invalid/mcp", Proxy: http.ProxyURL(to)})
	h.say(call1)
	h.wants(done1)
	if len(through) != 1 || through[0] != "http://mcp.example.invalid/mcp" {
		t.Errorf("through the proxy went %v", through)
	}
}

func TestHTTP2AndTLS(t *testing.T) {
	s := &server{t: t, new: make(chan struct{}, 100)}
	s.Server = httptest.NewUnstartedServer(s.handler(func(w http.ResponseWriter, r *http.Request, body string) {
		if r.ProtoMajor != 2 {
			t.Errorf("HTTP/%d", r.ProtoMajor)
		}
		say := stream(w)
		say("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\ndata: %s\n\n", done1)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	h := wrap(t, Config{URL: s.URL, TLS: s.Client().Transport.(*http.Transport).TLSClientConfig})
	h.say(call1)
	h.wants(`{"jsonrpc":"2.0","method":"x"}`)
	h.wants(done1)
	other := wrap(t, Config{URL: s.URL})
	other.say(call1)
	other.wantsError("1", "upstream unreachable: ")
}

func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	s := &server{t: t, new: make(chan struct{}, 100)}
	s.Server = httptest.NewUnstartedServer(s.handler(echo))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	defer s.Close()
	h := wrap(t, Config{URL: s.URL})
	h.say(call1)
	h.wants(done1)
}
