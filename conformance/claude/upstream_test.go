//go:build linux

package claude

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
)

// upstream is the test's side of the scripted MCP servers of one lab.
type upstream struct {
	listener net.Listener
	seen     feed[told]
	reading  sync.WaitGroup

	mu    sync.Mutex
	links []net.Conn
}

func listenUpstream(t testing.TB) *upstream {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &upstream{listener: l}
	// Ends when the listener is closed.
	u.reading.Go(func() {
		for {
			link, err := l.Accept()
			if err != nil {
				return
			}
			u.keep(link)
			// Ends with the server, or when the link is closed.
			u.reading.Go(func() { u.listen(link) })
		}
	})
	t.Cleanup(u.close)
	return u
}

func (u *upstream) keep(link net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.links = append(u.links, link)
}

func (u *upstream) close() {
	u.listener.Close()
	u.mu.Lock()
	for _, link := range u.links {
		link.Close()
	}
	u.mu.Unlock()
	u.reading.Wait()
}

// listen keeps what one server tells, under the name and the process that it told first.
func (u *upstream) listen(link net.Conn) {
	var who told
	for lines := bufio.NewReader(link); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var what told
		if json.Unmarshal(line, &what) != nil {
			continue
		}
		if what.Name != "" {
			who = what
		}
		what.Name, what.PID = who.Name, who.PID
		u.seen.add(what)
	}
}

// await waits until something that was told satisfies is, n times.
func (u *upstream) await(t testing.TB, what string, n int, is func(told) bool) {
	t.Helper()
	if !u.seen.await(func(seen []told) bool { return count(seen, is) >= n }) {
		t.Fatalf("the server did not see %s %d times; it saw\n%s", what, n, sketch(u.seen.all()))
	}
}

func count[T any](all []T, is func(T) bool) int {
	n := 0
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// open opens a gate at every server that lives.
func (u *upstream) open(gate string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, link := range u.links {
		_, _ = fmt.Fprintln(link, gate) // one that has ended has no gates
	}
}

// called is a tools/call as a server saw it.
type called struct{ Server, Tool, Arguments, ToolUseID string }

// calls are the tools/calls that the servers saw, oldest first.
func (u *upstream) calls() []called {
	var all []called
	for _, s := range u.seen.all() {
		var m struct {
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
				Meta      map[string]any `json:"_meta"`
			}
		}
		if json.Unmarshal([]byte(s.In), &m) != nil || m.Method != "tools/call" {
			continue
		}
		id, _ := m.Params.Meta["claudecode/toolUseId"].(string)
		all = append(all, called{Server: s.Name, Tool: m.Params.Name, Arguments: string(m.Params.Arguments), ToolUseID: id})
	}
	return all
}

func isCall(id string) func(told) bool {
	return func(s told) bool { return strings.Contains(s.In, `"claudecode/toolUseId":"`+id+`"`) }
}

func sketch(seen []told) string {
	var out strings.Builder
	for _, s := range seen {
		fmt.Fprintf(&out, "%s[%d] in=%.200s out=%.200s signal=%s end=%v\n", s.Name, s.PID, s.In, s.Out, s.Signal, s.End)
	}
	return out.String()
}
