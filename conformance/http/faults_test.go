package http

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/relay/relaytest"
)

// answerTo is what a healthy server answers, 'echo' and all.
func answerTo(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"answer-%s."}],"n":9007199254740993}}`, id, id)
}

func toolCall(id int) string {
	return request(id, "tools/call", fmt.Sprintf(`{"name":"echo","arguments":{"n":"call-%d."}}`, id))
}

// fault is one way in which a server answers the call with id 1. Every other call it
// answers as it should.
type fault struct {
	answer func(x *exchange)
	failed string // in the error that the host gets; empty: it gets the answer
}

func faults() map[string]fault {
	answer1 := answerTo("1")
	event := "event: message\ndata: " + answer1 + "\n\n"
	ok := "HTTP/1.1 200 OK\r\nContent-Type: "
	return map[string]fault{
		"one byte at a time": {answer: func(x *exchange) {
			x.slowly(fmt.Sprintf("%sapplication/json\r\nContent-Length: %d\r\n\r\n%s", ok, len(answer1), answer1))
		}},
		"a stream, one byte at a time": {answer: func(x *exchange) { x.stream(""); x.slowly(event) }},
		"chunks of one byte": {answer: func(x *exchange) {
			x.says(ok + "text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
			for i := range len(event) {
				x.says("1\r\n" + event[i:i+1] + "\r\n")
			}
			x.says("0\r\nX-Trailer: 1\r\n\r\n")
		}},
		"carriage returns, comments and a byte order mark": {answer: func(x *exchange) {
			x.stream("\ufeff: hello\r\rretry: 1\r\rid: 7\rdata: " + answer1 + "\r\r: bye\r\r")
		}},
		"news of what is to come": {answer: func(x *exchange) {
			x.says("HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
			x.json("", answer1)
		}},
		"no length, to the end of the connection": {answer: func(x *exchange) { x.hangUp = true; x.says(ok + "application/json\r\n\r\n" + answer1) }},
		"an answer over several lines": {answer: func(x *exchange) {
			x.json("", strings.Replace(answer1, `,"result"`, ",\r\n\t\"result\"", 1))
		}},
		"a connection that ends after the answer": {answer: func(x *exchange) { x.hangUp = true; x.json("Connection: close\r\n", answer1) }},
		"a stream that goes on after the answer":  {answer: func(x *exchange) { x.stream(event + ": still here\n\n"); x.silence() }},

		"a reset at once":                {answer: (*exchange).reset, failed: "upstream connection lost"},
		"a connection that ends at once": {answer: func(x *exchange) { x.hangUp = true }, failed: "upstream connection lost"},
		"a reset in the middle of a body": {answer: func(x *exchange) {
			x.says(ok + "application/json\r\nContent-Length: 900\r\n\r\n" + answer1[:40])
			x.reset()
		}, failed: "upstream connection lost"},
		"a reset in the middle of an event": {answer: func(x *exchange) { x.stream(event[:60]); x.reset() }, failed: "upstream "},
		"a body shorter than it was said": {answer: func(x *exchange) {
			x.hangUp = true
			x.says(ok + "application/json\r\nContent-Length: 900\r\n\r\n" + answer1)
		}, failed: "upstream connection lost"},
		"a body cut by its length": {answer: func(x *exchange) {
			x.hangUp = true
			x.says(ok + "application/json\r\nContent-Length: 30\r\n\r\n" + answer1)
		}, failed: "no JSON-RPC message"},
		"chunks of no size": {answer: func(x *exchange) {
			x.hangUp = true
			x.says(ok + "application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + answer1)
		}, failed: "upstream "},
		"gzip that is none": {answer: func(x *exchange) { x.json("Content-Encoding: gzip\r\n", answer1) }, failed: "upstream "},
		"what is no HTTP":   {answer: func(x *exchange) { x.hangUp = true; x.says("SSH-2.0-OpenSSH_9.6\r\n") }, failed: "upstream "},
		"headers without end": {answer: func(x *exchange) {
			x.hangUp = true
			x.says(ok + "application/json\r\n")
			for line := "X-Filler: " + strings.Repeat("x", 64<<10) + "\r\n"; ; {
				if _, err := x.Write([]byte(line)); err != nil {
					return
				}
			}
		}, failed: "upstream "},
		"a stream without the answer": {answer: func(x *exchange) { x.stream(": nothing\n\n") }, failed: "upstream "},
		"an answer to somebody else":  {answer: func(x *exchange) { x.stream("data: " + answerTo("77") + "\n\n") }, failed: "upstream "},
		"a page":                      {answer: func(x *exchange) { x.says(ok + "text/html\r\nContent-Length: 6\r\n\r\n<html>") }, failed: "text/html"},
		"accepted":                    {answer: func(x *exchange) { x.says("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n") }, failed: "gave no answer (HTTP 202)"},
	}
}

// handshake says what a host says first.
func (p *proxy) handshake() {
	p.t.Helper()
	p.speak(request(0, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}`))
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// hearAnswer hears the answer to an id, and nothing that comes before it is another.
func (p *proxy) hearAnswer(id string) string {
	p.t.Helper()
	for {
		line := p.hear()
		if member(line, "method") == "" && member(line, "id") == id {
			return line
		}
	}
}

// spooled is what a proxy whose service is away has left of its record.
func spooled(t *testing.T, home string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(home, "spool", "*", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// TestEveryFaultOfTheServerEndsItsOwnCallOnly makes a server misbehave once, in each
// way: the call ends once, the next one is answered, and the record says the same.
func TestEveryFaultOfTheServerEndsItsOwnCallOnly(t *testing.T) {
	for name, f := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveRaw(t, func(x *exchange) {
				if x.id == "1" {
					f.answer(x)
					return
				}
				x.json("", answerTo(x.id))
			})
			home := t.TempDir()
			p := startRecording(t, []string{"BIR_HOME=" + home, "BIR_AUTH_URL=http://127.0.0.1:9"}, "--server-name", "fleet", "--url", s.url())
			p.handshake()
			p.say(toolCall(1))
			got := p.hearAnswer("1")
			if bare := strings.Join(strings.Fields(got), ""); f.failed == "" && bare != answerTo("1") { // R19: line ends become spaces
				t.Errorf("the host got %s", got)
			}
			if f.failed != "" && (member(got, "error") == "" || !strings.Contains(got, f.failed)) {
				t.Errorf("the host got %s, not an error with %q", got, f.failed)
			}
			p.say(toolCall(2))
			if got := p.hearAnswer("2"); got != answerTo("2") {
				t.Errorf("after it the host got %s", got)
			}
			if code := p.end(); code != 0 {
				t.Errorf("exit status %d", code)
			}
			for line := range p.heard {
				t.Errorf("the host also got %s", line)
			}
			record := spooled(t, home)
			if got := strings.Count(record, "answer-1."); got != 0 && f.failed != "" || got != 1 && f.failed == "" {
				t.Errorf("the record has the answer %d times", got)
			}
			if f.failed != "" && !strings.Contains(record, `"status":"rpc_error"`) {
				t.Errorf("the record does not say that the call failed:\n%s", record)
			}
			if n := s.called("1"); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
		})
	}
}

// TestAForgottenSessionIsRenewedAndTheCallMadeOnce has the server forget.
func TestAForgottenSessionIsRenewedAndTheCallMadeOnce(t *testing.T) {
	s := serveRaw(t, func(x *exchange) {
		if x.session == "session-1" && x.id == "2" {
			x.says("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
			return
		}
		x.json("", answerTo(x.id))
	})
	home := t.TempDir()
	p := startRecording(t, []string{"BIR_HOME=" + home, "BIR_AUTH_URL=http://127.0.0.1:9"}, "--url", s.url())
	p.handshake()
	for id := 1; id <= 3; id++ {
		p.say(toolCall(id))
		want := answerTo(fmt.Sprint(id))
		if got := p.hearAnswer(fmt.Sprint(id)); got != want {
			t.Errorf("the host got %s", got)
		}
	}
	p.end()
	if n := strings.Count(spooled(t, home), `"type":"tool_response"`); n != 3 {
		t.Errorf("%d calls are recorded", n)
	}
}

// TestAHostThatLeavesWhileTheServerIsSilentIsNotKept: the end is bounded.
func TestAHostThatLeavesWhileTheServerIsSilentIsNotKept(t *testing.T) {
	t.Parallel() // it waits most of the time
	relaytest.Within(t, 15*time.Second, func() time.Duration {
		asked := make(chan struct{})
		s := serveRaw(t, func(x *exchange) { close(asked); x.silence() })
		home := t.TempDir()
		p := startRecording(t, []string{"BIR_HOME=" + home, "BIR_AUTH_URL=http://127.0.0.1:9"}, "--url", s.url())
		p.handshake()
		p.say(toolCall(1))
		<-asked
		began := time.Now()
		p.end()
		took := time.Since(began)
		if record := spooled(t, home); !strings.Contains(record, `"status":"no_answer"`) && !strings.Contains(record, `"status":"rpc_error"`) {
			t.Errorf("the record does not say that nobody answered:\n%s", record)
		}
		return took
	})
}

// TestAnAnswerThatComesAfterTheHostsLastWordReachesIt (R11).
func TestAnAnswerThatComesAfterTheHostsLastWordReachesIt(t *testing.T) {
	asked, left := make(chan struct{}), make(chan struct{})
	s := serveRaw(t, func(x *exchange) {
		close(asked)
		<-left
		x.json("", answerTo("1"))
	})
	p := startRecording(t, []string{"BIR_HOME=" + t.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9"}, "--url", s.url())
	p.handshake()
	p.say(toolCall(1))
	<-asked
	p.in.Close()
	close(left)
	if got := p.hearAnswer("1"); got != answerTo("1") {
		t.Errorf("the host got %s", got)
	}
	p.end()
}

// TestAServerThatGoesAndComesBackIsUsedAgain ends every connection between two calls.
func TestAServerThatGoesAndComesBackIsUsedAgain(t *testing.T) {
	s := serveRaw(t, func(x *exchange) { x.json("", answerTo(x.id)) })
	p := startRecording(t, []string{"BIR_HOME=" + t.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9"}, "--url", s.url())
	p.handshake()
	for id := 1; id <= 5; id++ {
		p.say(toolCall(id))
		// A request on a connection that ends under it is not sent again: nobody knows
		// whether the call was made. Either way it ends.
		got := p.hearAnswer(fmt.Sprint(id))
		if got != answerTo(fmt.Sprint(id)) && member(got, "error") == "" {
			t.Errorf("the host got %s", got)
		}
		s.hangUp()
	}
	p.end()
}

// TestWithoutTheMeansToRecordARemoteServerIsReachedAllTheSame takes away descriptors
// and disk.
func TestWithoutTheMeansToRecordARemoteServerIsReachedAllTheSame(t *testing.T) {
	for name, limit := range map[string]string{"a full disk": "-f 0", "a disk that fills up": "-f 8", "24 descriptors": "-n 24"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveRaw(t, func(x *exchange) { x.json("", answerTo(x.id)) })
			under := []string{"sh", "-c", "ulimit " + limit + ` && exec "$@"`, "sh"}
			p := startUnder(t, under, []string{"BIR_HOME=" + t.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9"}, "--url", s.url())
			p.handshake()
			for id := 1; id <= 300; id++ {
				p.say(toolCall(id))
				if got := p.hearAnswer(fmt.Sprint(id)); got != answerTo(fmt.Sprint(id)) {
					t.Fatalf("the host got %s", got)
				}
			}
			if code := p.end(); code != 0 {
				t.Errorf("exit status %d", code)
			}
		})
	}
}

// TestALargeAnswerOfARemoteServerIsTheSame passes 64 MiB, as a body and as an event.
func TestALargeAnswerOfARemoteServerIsTheSame(t *testing.T) {
	large := `{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("0123456789abcdef", 4<<20) + `"}}`
	for name, answer := range map[string]func(x *exchange){
		"a body":   func(x *exchange) { x.json("", large) },
		"an event": func(x *exchange) { x.stream("data: " + large + "\n\n") },
	} {
		t.Run(name, func(t *testing.T) {
			s := serveRaw(t, answer)
			p := startRecording(t, []string{"BIR_HOME=" + t.TempDir(), "BIR_AUTH_URL=http://127.0.0.1:9"}, "--url", s.url())
			p.handshake()
			p.say(toolCall(1))
			if got := p.hear(); got != large {
				t.Errorf("the host got %d bytes, not %d", len(got), len(large))
			}
			p.end()
		})
	}
}
