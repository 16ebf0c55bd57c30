// Package call is bir's own MCP client: it opens a conversation with an upstream,
// lists its tools and calls them. It owns the ids that begin with "bir:" and answers
// what the upstream asks of a client. It must never claim a capability that it does
// not honour, nor send a call twice.
package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/bir-run/bir/relay/jsonrpc"
)

// Protocol revisions: the newest that has a handshake, and the first without.
const (
	legacyVersion = "2025-11-25"
	modernVersion = "2026-07-28"
)

// idPrefix begins the raw text of each id of ours (R5).
const idPrefix = `"bir:`

// Upstream is the server's side of the wire.
type Upstream interface {
	io.Reader
	io.Writer
	// CloseWrite ends the server's input, which asks it to end.
	CloseWrite() error
}

// Info is who we say we are.
type Info struct {
	Name     string
	Version  string
	MaxBytes int // the largest answer accepted; 0 means 128 MiB
}

// Client is an open conversation. Its methods may be called from many goroutines.
type Client struct {
	up     Upstream
	info   Info
	modern bool
	done   chan struct{} // closed when the upstream's output has ended

	writing sync.Mutex // one message at a time; never held together with mu

	mu      sync.Mutex // guards all below
	next    int
	waiting map[string]chan<- answer // by the key of the id
	ended   error                    // why there will be no more answers
}

type answer struct {
	result json.RawMessage
	err    error
}

// Open begins a conversation. It tries the handshake of the legacy revisions, and
// where a server has none speaks the modern one. It does not start or end the
// server: Close ends its input only.
func Open(ctx context.Context, up Upstream, info Info) (*Client, error) {
	c := Join(up, info, false)
	if err := c.handshake(ctx); err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	return c, nil
}

// Join speaks in a conversation that a host has opened. Of what the upstream says up
// reads the answers to ids of ours only; a Write that fails with a NotSentError sent
// nothing.
func Join(up Upstream, info Info, modern bool) *Client {
	c := &Client{up: up, info: info, modern: modern, done: make(chan struct{}), waiting: map[string]chan<- answer{}}
	// Ends with the upstream's output.
	go c.read()
	return c
}

// Ours says whether an answer with this raw id is to a request of a Client.
func Ours(id []byte) bool { return bytes.HasPrefix(id, []byte(idPrefix)) }

func (c *Client) handshake(ctx context.Context) error {
	params, err := json.Marshal(map[string]any{
		"protocolVersion": legacyVersion, "capabilities": struct{}{}, "clientInfo": c.self(),
	})
	if err != nil {
		return err
	}
	_, err = c.request(ctx, "initialize", params)
	var refused *RPCError
	switch {
	case errors.As(err, &refused) && refused.Code == codeMethodNotFound:
		c.modern = true // a server of the modern revision has no such method
		return nil
	case err != nil:
		return err
	}
	return c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"))
}

func (c *Client) self() map[string]string {
	return map[string]string{"name": c.info.Name, "version": c.info.Version}
}

// Call calls a tool and returns its whole result object as the upstream wrote it;
// a result may itself say isError. When ctx ends first the upstream is told.
func (c *Client) Call(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	name, err := json.Marshal(tool)
	if err != nil {
		return nil, err
	}
	return c.request(ctx, "tools/call", fmt.Appendf(nil, `{"name":%s,"arguments":%s}`, name, args))
}

// Tools lists the tools of all pages, each as the upstream wrote it.
func (c *Client) Tools(ctx context.Context) ([]json.RawMessage, error) {
	var all []json.RawMessage
	var seen []string // a server that repeats a cursor would keep us for ever
	params := []byte("{}")
	for {
		result, err := c.request(ctx, "tools/list", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(result, &page); err != nil {
			return nil, fmt.Errorf("read tools/list: %w", err)
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			return all, nil
		}
		if slices.Contains(seen, page.NextCursor) {
			return nil, errors.New("tools/list gives the same cursor again")
		}
		seen = append(seen, page.NextCursor)
		if params, err = json.Marshal(map[string]string{"cursor": page.NextCursor}); err != nil {
			return nil, err
		}
	}
}

// Close ends the upstream's input and waits until it has ended its output.
func (c *Client) Close(ctx context.Context) error {
	err := c.up.CloseWrite()
	select {
	case <-c.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// request sends one request and waits for its answer.
func (c *Client) request(ctx context.Context, method string, params []byte) (json.RawMessage, error) {
	if err := ctx.Err(); err != nil {
		return nil, &NotSentError{err}
	}
	if c.modern {
		var err error
		if params, err = c.withMeta(params); err != nil {
			return nil, &NotSentError{err}
		}
	}
	got := make(chan answer, 1)
	key, err := c.register(got)
	if err != nil {
		return nil, &NotSentError{err}
	}
	defer c.forget(key)
	id := key + `"`
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`+"\n", id, method, oneLine(params))
	if err := c.send(line); err != nil {
		var unsent *NotSentError
		if errors.As(err, &unsent) {
			return nil, unsent
		}
		// Part of it may have arrived: nobody can tell whether it ran.
		return nil, &NoAnswerError{err}
	}
	select {
	case a := <-got:
		return a.result, a.err
	case <-ctx.Done():
		c.cancel(id, method)
		return nil, &NoAnswerError{ctx.Err()}
	}
}

// cancel tells the upstream that nobody waits any more. Its failure would only say
// that the upstream is gone.
func (c *Client) cancel(id, method string) {
	if method == "initialize" {
		return // which a client must not cancel
	}
	_ = c.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"no longer needed"}}`+"\n", id))
}

// register makes an id of the bir: space (R5) and returns its key.
func (c *Client) register(got chan<- answer) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return "", c.ended
	}
	c.next++
	key := idPrefix + strconv.Itoa(c.next)
	c.waiting[key] = got
	return key, nil
}

func (c *Client) forget(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, key)
}

func (c *Client) send(line []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.up.Write(line)
	return err
}

func (c *Client) maxBytes() int {
	if c.info.MaxBytes > 0 {
		return c.info.MaxBytes
	}
	return jsonrpc.DefaultMaxBytes
}
