//go:build linux

package claude

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// told is one thing that the scripted MCP server tells the test: its start, a line
// that it read or wrote, a signal, or the end of its input.
type told struct {
	Name   string `json:"name,omitempty"` // of the server, at its start
	PID    int    `json:"pid,omitempty"`
	In     string `json:"in,omitempty"`
	Out    string `json:"out,omitempty"`
	Signal string `json:"signal,omitempty"`
	End    bool   `json:"end,omitempty"`
}

// serve is the scripted MCP server: the test binary under another role. It is started
// as NAME ADDRESS; the one named "newer" speaks the newer protocol.
func serve(args []string) int {
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: NAME ADDRESS")
		return 2
	}
	link, err := net.Dial("tcp", args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := &server{newer: args[0] == "newer", link: link, gates: map[string]chan struct{}{}, asked: map[string]chan json.RawMessage{}}
	s.tell(told{Name: args[0], PID: os.Getpid()})
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	// Both end with the process.
	go func() {
		s.tell(told{Signal: (<-signals).String()})
		os.Exit(0)
	}()
	go s.obey()
	for lines := bufio.NewReader(os.Stdin); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.tell(told{End: true})
			return 0
		}
		s.take(line[:len(line)-1])
	}
}

type server struct {
	newer bool       // speaks the protocol of 2026-07-28
	mu    sync.Mutex // guards what follows, and writing
	link  net.Conn
	gates map[string]chan struct{} // of the calls that wait for the test
	asked map[string]chan json.RawMessage
}

// message is what the server reads of a line.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name            string          `json:"name"`
		ProtocolVersion string          `json:"protocolVersion"`
		Arguments       json.RawMessage `json:"arguments"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

func (s *server) tell(what told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = json.NewEncoder(s.link).Encode(what) // without its test the server has nobody to tell
}

// write sends a line to the client, and tells of it.
func (s *server) write(line string) {
	s.tell(told{Out: line})
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = os.Stdout.WriteString(line + "\n") // a client that is gone also ends the input
}

// obey opens the gates that the test names, one a line.
func (s *server) obey() {
	for names := bufio.NewScanner(s.link); names.Scan(); {
		close(s.gate(names.Text()))
	}
}

func (s *server) gate(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gates[name] == nil {
		s.gates[name] = make(chan struct{})
	}
	return s.gates[name]
}

func (s *server) take(line string) {
	s.tell(told{In: line})
	var m message
	if json.Unmarshal([]byte(line), &m) != nil || m.ID == nil {
		return
	}
	switch m.Method {
	case "server/discover":
		s.discover(m)
	case "":
		s.answerTo(string(m.ID)) <- m.Result
	case "initialize":
		s.result(m, fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"fleet","version":"1.0.0"}}`, m.Params.ProtocolVersion))
	case "tools/list":
		s.result(m, toolList)
	case "tools/call":
		go s.call(m) // ends with its answer, or with the process
	default:
		s.refuse(m, -32601, "no such method")
	}
}

// discover answers the client's first question as a server of the newer protocol does,
// where this is one: then nothing is initialized.
func (s *server) discover(m message) {
	if !s.newer {
		s.refuse(m, -32601, "no such method")
		return
	}
	s.result(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private",`+
		`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"newer","version":"1.0.0"}}}`)
}

func (s *server) answerTo(id string) chan json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[id] == nil {
		s.asked[id] = make(chan json.RawMessage, 1)
	}
	return s.asked[id]
}

func (s *server) result(m message, result string) {
	if s.newer {
		result = `{"resultType":"complete",` + strings.TrimPrefix(result, "{")
	}
	s.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

func (s *server) refuse(m message, code int, text string) {
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, m.ID, code, text))
}

// toolList says which tools there are. Those that only read are run side by side by
// the client, the others one after the other.
const toolList = `{"tools":[` +
	`{"name":"look","description":"Looks something up","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"what":{"type":"string"}},"required":["what"]}},` +
	`{"name":"watch","description":"Looks until it is told","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","properties":{"gate":{"type":"string"}},"required":["gate"]}},` +
	`{"name":"move","description":"Moves a vehicle","inputSchema":{"type":"object","properties":{"vehicle":{"type":"string"},"km":{"type":"number"}},"required":["vehicle"]}},` +
	`{"name":"shapes","description":"Answers with every kind of content","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"n":{"type":"number"}}}},` +
	`{"name":"fail","description":"Fails","inputSchema":{"type":"object"}},` +
	`{"name":"refuse","description":"Answers with an error","inputSchema":{"type":"object"}},` +
	`{"name":"die","description":"Ends the server","inputSchema":{"type":"object"}},` +
	`{"name":"ask","description":"Asks the user","inputSchema":{"type":"object"}}]}`

func (s *server) call(m message) {
	var args struct {
		What, Gate, Vehicle string
		KM                  json.Number
	}
	_ = json.Unmarshal(m.Params.Arguments, &args) // what is missing stays empty
	switch m.Params.Name {
	case "look":
		s.result(m, text("found "+args.What))
	case "watch":
		<-s.gate(args.Gate)
		s.result(m, text("watched "+args.Gate))
	case "move":
		s.result(m, text("moved "+args.Vehicle+" by "+args.KM.String()+" km"))
	case "shapes":
		s.result(m, shapes)
	case "fail":
		s.result(m, `{"content":[{"type":"text","text":"no such vehicle"}],"isError":true}`)
	case "refuse":
		s.refuse(m, -32602, "bad vehicle")
	case "die":
		os.Exit(3)
	case "ask":
		s.result(m, text("the user said "+string(s.ask())))
	default:
		s.refuse(m, -32601, "no such tool")
	}
}

// ask asks the user, through the client.
func (s *server) ask() json.RawMessage {
	answer := s.answerTo(`"ask"`)
	s.write(`{"jsonrpc":"2.0","id":"ask","method":"elicitation/create","params":{"mode":"form","message":"Which colour?",` +
		`"requestedSchema":{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}}}`)
	return <-answer
}

func text(s string) string { return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, s) }

// shapes has what a client shows the model otherwise than it came, and white space that
// nobody needs.
const shapes = `{ "content" : [{"type":"text","text":"one"},` +
	`{"type":"image","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwACggF/yWRb0wAAAABJRU5ErkJggg==","mimeType":"image/png"},` +
	`{"type":"resource","resource":{"uri":"file:///van.txt","text":"van"},"annotations":{"priority":0.50}},` +
	`{"type":"resource_link","uri":"file:///bus.txt","name":"bus"}], "structuredContent":{"n":5.0} }`
