package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/shell"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay/call"
	"github.com/bir-run/bir/relay/stdio"
	"github.com/bir-run/bir/relay/web"
)

const (
	openTimeout  = 60 * time.Second // npx may have to fetch the server first
	closeTimeout = 5 * time.Second
	maxSaid      = 4 << 10 // of a server's standard error, kept for the error message
)

// upstreams starts each server when a step first needs it, and sends the steps.
type upstreams struct {
	servers map[string]recorder.Server
	headers map[string]map[string]string // of the remote ones
	app     *app.App
	open    map[string]*connection
}

// upstream is a server: a child, or one that is reached over HTTP.
type upstream interface {
	call.Upstream
	Stop()
	Close() error
}

type connection struct {
	server upstream
	client *call.Client
}

// newUpstreams knows the recorded servers, and those that NAME=COMMAND or NAME=URL
// puts in their place. A header is NAME=KEY: VALUE.
func newUpstreams(a *app.App, recorded map[string]recorder.Server, overrides, headers []string) (*upstreams, error) {
	u := &upstreams{servers: map[string]recorder.Server{}, headers: map[string]map[string]string{}, app: a, open: map[string]*connection{}}
	for name, s := range recorded {
		u.servers[name] = s
	}
	for _, o := range overrides {
		name, place, ok := strings.Cut(o, "=")
		if !ok || name == "" || place == "" {
			return nil, cli.Usage("--server %q is not NAME=COMMAND or NAME=URL", o)
		}
		server, err := u.override(name, place)
		if err != nil {
			return nil, err
		}
		u.servers[name] = server
	}
	for _, h := range headers {
		if err := u.addHeader(h); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// override is the server that a command or a URL names. A URL is spoken to as the
// recorded server was.
func (u *upstreams) override(name, place string) (recorder.Server, error) {
	if isHTTP(place) {
		server := recorder.Server{Transport: string(web.HTTP), URL: place}
		if u.servers[name].Transport == string(web.SSE) {
			server.Transport = string(web.SSE)
		}
		return server, nil
	}
	words, err := shell.Fields(place, func(name string) string { return lookup(u.app.Env.Vars, name) })
	if err != nil || len(words) == 0 {
		return recorder.Server{}, cli.Usage("--server %s: %q is no command", name, place)
	}
	return recorder.Server{Transport: "stdio", Command: words}, nil
}

func isHTTP(place string) bool {
	return strings.HasPrefix(place, "http://") || strings.HasPrefix(place, "https://")
}

// addHeader takes a header for one server only: it may be a credential. For the same
// reason the error does not repeat it.
func (u *upstreams) addHeader(text string) error {
	name, header, _ := strings.Cut(text, "=")
	key, value, ok := strings.Cut(header, ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if _, known := u.servers[name]; !ok || !known {
		return cli.Usage("--server-header: want NAME=KEY: VALUE with the name of a server")
	}
	if err := web.CheckHeader(key, value); err != nil {
		return cli.Usage("--server-header for %q: %s", name, err)
	}
	if u.headers[name] == nil {
		u.headers[name] = map[string]string{}
	}
	u.headers[name][key] = value
	return nil
}

func lookup(environ []string, name string) string {
	for _, kv := range environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// Execute sends one step to its server.
func (u *upstreams) Execute(ctx context.Context, step engine.Step, input json.RawMessage) (json.RawMessage, error) {
	if step.BuiltIn() {
		return nil, unsent{fmt.Errorf("%s is a built-in tool of the host, which only the host can call", step.ToolName)}
	}
	c, err := u.connect(ctx, step.ServerName)
	if err != nil {
		return nil, unsent{err}
	}
	result, err := c.client.Call(ctx, step.UpstreamTool, input)
	var notSent *call.NotSentError
	var refused *call.RPCError
	switch {
	case errors.As(err, &notSent):
		return nil, unsent{err}
	case errors.As(err, &refused):
		return refusal(refused)
	}
	return result, err
}

// refusal is a JSON-RPC error as a tool's error: the server did answer.
func refusal(e *call.RPCError) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"content": []map[string]string{{"type": "text", "text": e.Error()}},
		"isError": true,
	})
}

// unsent says that nothing of a step happened.
type unsent struct{ error }

func (unsent) Sent() bool      { return false }
func (e unsent) Unwrap() error { return e.error }

func (u *upstreams) connect(ctx context.Context, name string) (*connection, error) {
	if c, ok := u.open[name]; ok {
		return c, nil
	}
	said := &tail{}
	server, err := u.start(context.WithoutCancel(ctx), name, said)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	client, err := call.Open(ctx, server, call.Info{Name: "bir", Version: u.app.Version, MaxBytes: u.app.Env.MaxMessageBytes})
	if err != nil {
		server.Stop()
		_ = server.Close()
		return nil, fmt.Errorf("speak to the server %q: %w%s", name, err, said)
	}
	u.open[name] = &connection{server, client}
	return u.open[name], nil
}

// start starts a server, or gets ready to reach it.
func (u *upstreams) start(ctx context.Context, name string, said *tail) (upstream, error) {
	switch server := u.servers[name]; {
	case server.URL != "":
		up, err := web.Open(ctx, web.Config{
			URL: server.URL, Transport: web.Transport(server.Transport), Header: u.headers[name],
			ConnectTimeout: u.app.Env.ConnectTimeout, MaxMessageBytes: u.app.Env.MaxMessageBytes, Log: u.app.Log,
		})
		if err != nil {
			return nil, fmt.Errorf("reach the server %q (--server '%s=URL' names another place): %w", name, name, err)
		}
		return up, nil
	case len(server.Command) > 0:
		process, err := stdio.Start(ctx, stdio.Config{Command: server.Command, Dir: server.CWD, Name: name, Stderr: said})
		if err != nil {
			return nil, fmt.Errorf("start the server %q (--server '%s=COMMAND' names another command): %w", name, name, err)
		}
		return process, nil
	}
	return nil, fmt.Errorf("nobody recorded how to start the server %q: name it with --server '%s=COMMAND' or '%s=URL'", name, name, name)
}

// close ends every server that was started.
func (u *upstreams) close() {
	for _, c := range u.open {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout) // also after an interrupt
		_ = c.client.Close(ctx)                                                // Stop ends a server that does not leave by itself
		cancel()
		c.server.Stop()
		_ = c.server.Close()
	}
}

// tail keeps the end of what a server says, for the message that it failed.
type tail struct {
	mu   sync.Mutex // guards said
	said []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said = append(t.said, p...)
	if extra := len(t.said) - maxSaid; extra > 0 {
		t.said = t.said[extra:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(bytes.TrimSpace(t.said)) == 0 {
		return ""
	}
	return "\nit said:\n" + cli.Indent(string(t.said), "   ")
}
