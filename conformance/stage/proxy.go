//go:build unix

package stage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Server is an MCP server of a session, behind the proxy or, with no proxy, itself.
type Server struct {
	*Project
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan []byte // what it says; closed at its end
	log     bytes.Buffer
	ended   chan struct{}
	id      int
	waiting map[int][]byte // answers that came before they were asked for
}

// Connect starts the server under a name, behind the proxy, and shakes hands.
func (s *Session) Connect(name string) *Server {
	s.Helper()
	path := s.upstream()
	cmd := s.command(s.Context(), "bir-proxy", "--server-name", name, "--", path)
	cmd.Env = append(cmd.Env, "CLAUDE_CODE_SESSION_ID="+s.ID)
	return s.connect(cmd)
}

// ConnectDirect starts the server itself.
func (p *Project) ConnectDirect() *Server {
	p.Helper()
	cmd := exec.CommandContext(p.Context(), p.upstream())
	return p.connect(cmd)
}

func (p *Project) upstream() string {
	p.Helper()
	path, err := upstream()
	if err != nil {
		p.Fatal(err)
	}
	return path
}

func (p *Project) connect(cmd *exec.Cmd) *Server {
	p.Helper()
	c := &Server{Project: p, cmd: cmd, lines: make(chan []byte, 256), ended: make(chan struct{}), waiting: map[int][]byte{}}
	in, err := cmd.StdinPipe()
	if err != nil {
		p.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	cmd.Stderr = &c.log
	if err := cmd.Start(); err != nil {
		p.Fatal(err)
	}
	c.in = in
	go c.read(out) // ends with the process
	p.Cleanup(func() {
		c.Kill()
		if p.Failed() {
			p.Logf("process %d says:\n%s", cmd.Process.Pid, &c.log)
		}
	})
	c.shakeHands()
	return c
}

func (c *Server) read(out io.Reader) {
	defer close(c.ended)
	r := bufio.NewReaderSize(out, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		c.lines <- line
	}
	close(c.lines)
	_ = c.cmd.Wait() // a status of its own says nothing here
}

func (c *Server) shakeHands() {
	c.Helper()
	id := c.send("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "claude-code", "version": "2.1.332"},
	})
	if _, ok := c.answer(id); !ok {
		c.Fatalf("no handshake: %s", &c.log)
	}
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	if _, ok := c.answer(c.send("tools/list", map[string]any{})); !ok {
		c.Fatalf("no tools: %s", &c.log)
	}
}

func (c *Server) say(text string) {
	_, _ = io.WriteString(c.in, text+"\n") // one that has ended is noticed by its silence
}

func (c *Server) send(method string, params map[string]any) int {
	c.Helper()
	c.id++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		c.Fatal(err)
	}
	c.say(string(text))
	return c.id
}

// Begin sends a call for the model.
func (c *Server) Begin(use Use, tool string) (id int) {
	c.Helper()
	return c.send("tools/call", map[string]any{
		"name": tool, "arguments": use.Input,
		"_meta": map[string]any{"claudecode/toolUseId": use.ID, "progressToken": c.id + 1},
	})
}

// Answer waits for the answer to a call. It says false where the server ended first.
func (c *Server) Answer(id int) ([]byte, bool) { return c.answer(id) }

func (c *Server) answer(id int) ([]byte, bool) {
	c.Helper()
	if line, ok := c.waiting[id]; ok {
		delete(c.waiting, id)
		return line, true
	}
	late := time.After(Patience)
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				return nil, false
			}
			var head struct{ ID int }
			if err := json.Unmarshal(line, &head); err != nil {
				c.Fatalf("the server says %q: %v", line, err)
			}
			if head.ID == id {
				return line, true
			}
			c.waiting[head.ID] = line
		case <-late:
			c.Fatalf("request %d is not answered: %s", id, &c.log)
		}
	}
}

// Kill kills the proxy, as nothing else does, and waits for its end.
func (c *Server) Kill() {
	_ = c.cmd.Process.Kill()
	for range c.lines { // so that what it said last does not keep it
	}
	<-c.ended
}

// Leave ends the connection as a host does.
func (c *Server) Leave() {
	c.Helper()
	c.in.Close()
	late := time.After(Patience)
	for {
		select {
		case _, open := <-c.lines:
			if !open {
				<-c.ended
				return
			}
		case <-late:
			c.Fatal("the server does not end")
		}
	}
}

// Said is the answer that the server gives to a call of echo or hold.
func Said(id int, text string) string {
	quoted, _ := json.Marshal(text) // a string always encodes
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{ "content" : [{"type":"text","text":%s}], "n":1.0 }}`+"\n", id, quoted)
}
