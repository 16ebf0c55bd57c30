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
)

const (
	openTimeout  = 60 * time.Second // npx may have to fetch the server first
	closeTimeout = 5 * time.Second
	maxSaid      = 4 << 10 // of a server's standard error, kept for the error message
)

// upstreams starts each server when a step first needs it, and sends the steps.
type upstreams struct {
	servers map[string]recorder.Server
	app     *app.App
	open    map[string]*connection
}

type connection struct {
	process *stdio.Process
	client  *call.Client
}

// newUpstreams knows the recorded servers, and those that NAME=COMMAND puts in
// their place.
func newUpstreams(a *app.App, recorded map[string]recorder.Server, overrides []string) (*upstreams, error) {
	u := &upstreams{servers: map[string]recorder.Server{}, app: a, open: map[string]*connection{}}
	for name, s := range recorded {
		u.servers[name] = s
	}
	for _, o := range overrides {
		name, command, ok := strings.Cut(o, "=")
		words, err := shell.Fields(command, func(name string) string { return lookup(a.Env.Vars, name) })
		if !ok || name == "" || err != nil || len(words) == 0 {
			return nil, cli.Usage("--server %q is not NAME=COMMAND", o)
		}
		u.servers[name] = recorder.Server{Transport: "stdio", Command: words}
	}
	return u, nil
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
	server, ok := u.servers[name]
	if !ok || len(server.Command) == 0 {
		return nil, fmt.Errorf("nobody recorded how to start the server %q: name it with --server '%s=COMMAND'", name, name)
	}
	said := &tail{}
	process, err := stdio.Start(context.WithoutCancel(ctx), stdio.Config{
		Command: server.Command, Dir: server.CWD, Name: name, Stderr: said,
	})
	if err != nil {
		return nil, fmt.Errorf("start the server %q (--server '%s=COMMAND' names another command): %w", name, name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	client, err := call.Open(ctx, process, call.Info{Name: "bir", Version: u.app.Version, MaxBytes: u.app.Env.MaxMessageBytes})
	if err != nil {
		process.Stop()
		process.Close()
		return nil, fmt.Errorf("speak to the server %q: %w%s", name, err, said)
	}
	u.open[name] = &connection{process, client}
	return u.open[name], nil
}

// close ends every server that was started.
func (u *upstreams) close() {
	for _, c := range u.open {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout) // also after an interrupt
		_ = c.client.Close(ctx)                                                // Stop ends a server that does not leave by itself
		cancel()
		c.process.Stop()
		c.process.Close()
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
