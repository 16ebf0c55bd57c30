package http

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// rawServer speaks HTTP as bytes on a socket, so that it can also speak it wrongly.
// What a test does not care about it answers as a server with a session does.
type rawServer struct {
	t        *testing.T
	listener net.Listener
	answer   func(x *exchange) // of each tools/call
	conns    sync.WaitGroup

	mu       sync.Mutex // guards below
	sessions int
	calls    []string
	open     map[net.Conn]bool
}

// exchange is one request, and the connection on which it is answered.
type exchange struct {
	net.Conn
	server             *rawServer
	method, path, body string
	session            string // that the request names
	id                 string // of the JSON-RPC request
	hangUp             bool   // end the connection after the answer
}

func serveRaw(t *testing.T, answer func(x *exchange)) *rawServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &rawServer{t: t, listener: l, answer: answer, open: map[net.Conn]bool{}}
	s.conns.Go(s.accept) // ends with the listener
	t.Cleanup(func() {
		l.Close()
		s.hangUp()
		s.conns.Wait()
	})
	return s
}

func (s *rawServer) url() string { return "http://" + s.listener.Addr().String() + "/mcp" }

func (s *rawServer) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.open[conn] = true
		s.mu.Unlock()
		s.conns.Go(func() { s.converse(conn) }) // ends with the connection
	}
}

// hangUp ends every connection.
func (s *rawServer) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.open {
		conn.Close()
	}
}

func (s *rawServer) converse(conn net.Conn) {
	defer func() {
		conn.Close()
		s.mu.Lock()
		delete(s.open, conn)
		s.mu.Unlock()
	}()
	for in := bufio.NewReader(conn); ; {
		x, err := readRaw(in)
		if err != nil {
			return
		}
		x.Conn, x.server = conn, s
		if x.serve(); x.hangUp {
			return
		}
	}
}

// readRaw reads a request whose body has a length, which ours have.
func readRaw(in *bufio.Reader) (*exchange, error) {
	x := &exchange{}
	length := 0
	for first := true; ; first = false {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if first {
			x.method, x.path, _ = strings.Cut(line, " ")
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		switch value = strings.TrimSpace(value); strings.ToLower(name) {
		case "":
			body := make([]byte, length)
			_, err := io.ReadFull(in, body)
			x.body = string(body)
			x.id = member(x.body, "id")
			return x, err
		case "content-length":
			length, _ = strconv.Atoi(value)
		case "mcp-session-id":
			x.session = value
		}
	}
}

func (x *exchange) serve() {
	s := x.server
	switch {
	case x.method == "GET":
		x.says("HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
	case x.method == "DELETE":
		x.says("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	case member(x.body, "method") == `"initialize"`:
		s.mu.Lock()
		s.sessions++
		name := "session-" + strconv.Itoa(s.sessions)
		s.mu.Unlock()
		x.json("Mcp-Session-Id: "+name+"\r\n", `{"jsonrpc":"2.0","id":`+x.id+`,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}}`)
	case member(x.body, "method") == `"tools/call"`:
		s.mu.Lock()
		s.calls = append(s.calls, x.id)
		s.mu.Unlock()
		s.answer(x)
	default:
		x.says("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
	}
}

// called is how often the call with this id has come.
func (s *rawServer) called(id string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if c == id {
			n++
		}
	}
	return n
}

// says writes bytes. That nobody reads them any more is the proxy's affair.
func (x *exchange) says(text string) { _, _ = io.WriteString(x.Conn, text) }

// slowly writes one byte at a time.
func (x *exchange) slowly(text string) {
	for i := range len(text) {
		x.says(text[i : i+1])
	}
}

func (x *exchange) json(headers, body string) {
	x.says("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + headers + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// stream begins an event stream that ends with the connection.
func (x *exchange) stream(text string) {
	x.hangUp = true
	x.says("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + text)
}

// reset ends the connection as a crash of the server's machine does.
func (x *exchange) reset() {
	x.hangUp = true
	_ = x.Conn.(*net.TCPConn).SetLinger(0)
	_ = x.Conn.Close()
}

// silence says nothing until the connection is gone.
func (x *exchange) silence() {
	x.hangUp = true
	_ = x.SetReadDeadline(time.Now().Add(patience))
	_, _ = x.Read(make([]byte, 1))
}
