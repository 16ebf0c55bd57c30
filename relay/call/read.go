package call

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bir-run/bir/relay/jsonrpc"
)

// read takes what the upstream says until it ends.
func (c *Client) read() {
	defer close(c.done)
	lines := jsonrpc.Reader{Source: c.up, MaxBytes: c.maxBytes()}
	for {
		m, err := lines.Next()
		if m.Size > 0 {
			c.take(m)
		}
		if err != nil {
			c.end()
			return
		}
	}
}

func (c *Client) take(m jsonrpc.Message) {
	switch m.Kind {
	case jsonrpc.Response:
		c.deliver(m)
	case jsonrpc.Request:
		c.answer(m)
	case jsonrpc.Batch:
		for _, element := range m.Elements() {
			if element.Kind != jsonrpc.Batch {
				c.take(element)
			}
		}
	}
}

func (c *Client) deliver(m jsonrpc.Message) {
	key, _ := jsonrpc.Key(m.ID) // no id is no key of ours
	c.mu.Lock()
	got := c.waiting[key]
	delete(c.waiting, key)
	c.mu.Unlock()
	if got != nil {
		got <- answerOf(m) // has room for one
	}
}

func answerOf(m jsonrpc.Message) answer {
	switch {
	case m.Cut:
		return answer{err: ErrTooLarge}
	case m.HasResult():
		return answer{result: bytes.Clone(m.Result())}
	}
	var refused RPCError
	if err := json.Unmarshal(m.Error(), &refused); err != nil {
		return answer{err: fmt.Errorf("read error answer: %w", err)}
	}
	return answer{err: &refused}
}

// answer is what a client without capabilities says to a server's request.
func (c *Client) answer(m jsonrpc.Message) {
	if m.ID == nil {
		return
	}
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"Method not found"}}`+"\n", m.ID, codeMethodNotFound)
	if m.Method == "ping" {
		line = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.ID)
	}
	// Ends with the write. Not here: an upstream that does not read while it writes
	// would wait for us while we wait for it.
	go func() { _ = c.send(line) }() // a failure means that the upstream is gone
}

// end answers everyone who still waits.
func (c *Client) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = ErrEnded
	for id, got := range c.waiting {
		delete(c.waiting, id)
		got <- answer{err: &NoAnswerError{ErrEnded}} // has room for one
	}
}

// withMeta adds what the modern revision wants with every request (R5). We declare
// no capability.
func (c *Client) withMeta(params []byte) ([]byte, error) {
	meta, err := json.Marshal(map[string]any{
		"io.modelcontextprotocol/protocolVersion":    modernVersion,
		"io.modelcontextprotocol/clientInfo":         c.self(),
		"io.modelcontextprotocol/clientCapabilities": struct{}{},
	})
	if err != nil {
		return nil, err
	}
	rest := bytes.TrimPrefix(params, []byte("{"))
	if bytes.Equal(rest, []byte("}")) {
		return fmt.Appendf(nil, `{"_meta":%s}`, meta), nil
	}
	return fmt.Appendf(nil, `{"_meta":%s,%s`, meta, rest), nil
}

// oneLine takes the line ends out of JSON text that a person may have written over
// several lines. Outside strings they mean nothing, inside they cannot stand.
func oneLine(params []byte) []byte {
	if !bytes.ContainsAny(params, "\r\n") {
		return params
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(params, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" "))
}
