package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/recorder/api"
)

const (
	// defaultPollWait is how long a poll waits for a call, and pollGrace how much longer
	// for its answer.
	defaultPollWait = 25 * time.Second
	pollGrace       = 10 * time.Second
	// maxAnswerBytes bounds what is read of an answer: a call's arguments fit.
	maxAnswerBytes = 16 << 20
	dialTimeout    = 2 * time.Second
	// idleTimeout ends a connection that was not used: a project has many proxies.
	idleTimeout = 90 * time.Second
)

// Errors that a caller branches on. What else goes wrong is a *Refused or a fault of
// the answer.
var (
	// ErrUnreachable is a control server that is not there, or leaves in the middle of
	// its answer: whether it took the request is not known.
	ErrUnreachable = errors.New("the control server cannot be reached")
	// ErrUnauthorised is a token that the control server does not know, so another one
	// has taken its place.
	ErrUnauthorised = errors.New("the control server does not know this token")
)

// CodeUnknownProxy is the code of a control server that a proxy has to register with
// before it asks for calls.
const CodeUnknownProxy = "unknown_proxy"

// Refused is any other error that the control server answered with.
type Refused = api.Problem

// Client asks one control server. It may be used by several goroutines.
type Client struct {
	server    api.Server
	transport *http.Transport
}

// New returns a client of the control server that a discovery file names, or that the
// environment does, with its URL and Token only. It dials nothing yet. Close it.
func New(file locate.File) (*Client, error) {
	address, ok := file.Address()
	if !ok {
		return nil, locate.ErrRemote
	}
	t := &http.Transport{
		// Proxy stays nil: what is on this machine is reached without one.
		DialContext:        dialer(file.Socket, address),
		DisableCompression: true,
		IdleConnTimeout:    idleTimeout,
	}
	return &Client{transport: t, server: api.Server{
		Name: "the control server", Base: "http://" + address, Token: file.Token, MaxAnswerBytes: maxAnswerBytes,
		HTTP: &http.Client{
			Transport: t,
			// A control server redirects nowhere, and our token must not follow.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}}, nil
}

// dialer prefers the Unix socket, which costs less than the loopback and which only
// this user can have made.
func dialer(socket, address string) func(ctx context.Context, network, addr string) (net.Conn, error) {
	d := &net.Dialer{Timeout: dialTimeout}
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		if socket != "" {
			if conn, err := d.DialContext(ctx, "unix", socket); err == nil {
				return conn, nil
			}
		}
		return d.DialContext(ctx, "tcp", address)
	}
}

// Close ends the connections that are not in use.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Register says that a proxy is there.
func (c *Client) Register(ctx context.Context, r Register) (Registered, error) {
	var out Registered
	return out, c.post(ctx, PathRegister, r, &out)
}

// Step reports a call. Reported twice under one id, it counts once.
func (c *Client) Step(ctx context.Context, r StepReport) error {
	return c.post(ctx, PathStep, api.Encoded(r.append(nil)), nil)
}

// Steps reports calls, in the order in which they ended, where Registered.Lists says
// that they may be reported together.
func (c *Client) Steps(ctx context.Context, reports []StepReport) (Taken, error) {
	var taken Taken
	return taken, c.post(ctx, PathStep, api.Encoded(appendAll(reports)), &taken)
}

// Poll waits for a call to make; the answer has no ID where none came.
func (c *Client) Poll(ctx context.Context, p Poll) (Dispatch, error) {
	wait := defaultPollWait
	if p.WaitMS > 0 {
		wait = time.Duration(p.WaitMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, wait+pollGrace)
	defer cancel()
	var out Dispatch
	return out, c.post(ctx, PathPoll, p, &out)
}

// Result says what came of a call that was polled for.
func (c *Client) Result(ctx context.Context, r Result) error {
	return c.post(ctx, PathResult, r, nil)
}

// Dispatch has a live proxy make a call, and waits for what comes of it.
func (c *Client) Dispatch(ctx context.Context, order DispatchOrder) (Result, error) {
	var out Result
	return out, c.post(ctx, PathDispatch, order, &out)
}

// Health asks how the control server is.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var out Health
	return out, c.do(ctx, http.MethodGet, PathHealth, nil, &out)
}

// Shutdown asks the control server to end, or to leave its runs to another.
func (c *Client) Shutdown(ctx context.Context, order Shutdown) error {
	return c.post(ctx, PathShutdown, order, nil)
}

func (c *Client) post(ctx context.Context, path string, body, out any) error {
	return c.do(ctx, http.MethodPost, path, body, out)
}

// do makes one request, as long as ctx allows, and decodes the answer into out unless
// that is nil. A control server that drains is as good as gone.
func (c *Client) do(ctx context.Context, method, path string, body, out any) error {
	err := c.server.Ask(ctx, method, path, body, out)
	var unanswered *api.NoAnswerError
	if errors.As(err, &unanswered) {
		return away(ctx, unanswered.Err)
	}
	var refused *Refused
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Status {
	case http.StatusUnauthorized:
		return ErrUnauthorised
	case http.StatusServiceUnavailable:
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// away tells a control server that is gone, or does not answer in time, from a caller
// that gave up.
func away(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Canceled
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}
