// Command upstream is the smallest MCP server that a suite can script: echo answers
// at once, hold answers when it is told to, fail answers with an error.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string `json:"protocolVersion"`
		Name            string `json:"name"`
		Arguments       struct {
			Text    string `json:"text"`
			Address string `json:"address"`
		} `json:"arguments"`
	} `json:"params"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	var mu sync.Mutex // guards standard output
	answer := func(id json.RawMessage, member, body string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"%s":%s}`+"\n", id, member, body)
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r request
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			continue
		}
		switch {
		case r.Method == "tools/call" && r.Params.Name == "hold":
			go func() { // ends when it is told to answer
				hold(r.Params.Arguments.Address)
				answer(r.ID, "result", result(r))
			}()
		default:
			member, body := reply(r)
			answer(r.ID, member, body)
		}
	}
}

func reply(r request) (member, body string) {
	switch r.Method {
	case "initialize":
		return "result", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"upstream","version":"1"}}`, r.Params.ProtocolVersion)
	case "tools/list":
		return "result", `{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"hold","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		return "result", result(r)
	}
	return "error", `{"code":-32601,"message":"Method not found"}`
}

func result(r request) string {
	text, _ := json.Marshal(r.Params.Arguments.Text) // a string always encodes
	if r.Params.Name == "fail" {
		return fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"isError":true}`, text)
	}
	return fmt.Sprintf(`{ "content" : [{"type":"text","text":%s}], "n":1.0 }`, text) // in a style of its own
}

// hold says at the address that the call has come, and waits for a byte.
func hold(address string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "!")
	_, _ = conn.Read(make([]byte, 1))
}
