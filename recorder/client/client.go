// Package client is how every process of bir reaches the service: typed calls for
// its routes, and StreamRecorder, which reports runs through them without ever
// making its caller wait. What StreamRecorder sends was redacted and truncated
// here, in this process. The client itself sends what it is given. The package
// must never find, start or judge the service: it is handed a Connect function.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/bir-run/bir/recorder/api"
)

const (
	// defaultTimeout bounds one request. Calculating a long run is the slowest.
	defaultTimeout = 60 * time.Second
	// maxAnswerBytes bounds what is read of an answer: a run of many steps at
	// 64 KiB a payload fits.
	maxAnswerBytes = 512 << 20
)

// ErrUnreachable is in the chain of every error of a request that never reached
// the service: nobody listens there, or the name is unknown.
var ErrUnreachable = errors.New("the service cannot be reached")

// Config says where the service is.
type Config struct {
	BaseURL string // "http://127.0.0.1:4812"
	Token   string
	HTTP    *http.Client  // nil: http.DefaultClient
	Timeout time.Duration // of one request; 0: 60 s
}

// Client calls the service. It may be used by several goroutines.
type Client struct {
	service api.Server
	timeout time.Duration
}

// New returns a client; it dials nothing yet.
func New(cfg Config) *Client {
	c := &Client{timeout: cfg.Timeout, service: api.Server{
		Name: "the service", Base: strings.TrimRight(cfg.BaseURL, "/"), Token: cfg.Token,
		HTTP: cfg.HTTP, MaxAnswerBytes: maxAnswerBytes,
	}}
	if c.service.HTTP == nil {
		c.service.HTTP = http.DefaultClient
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	return c
}

// BaseURL is the address of the service.
func (c *Client) BaseURL() string { return c.service.Base }

// Problem is an error that the service answered with.
type Problem = api.Problem

// get, post and the like decode the answer into out unless it is nil.
func (c *Client) get(ctx context.Context, path string, out any) error {
	return c.do(ctx, http.MethodGet, path, nil, out)
}

func (c *Client) post(ctx context.Context, path string, body, out any) error {
	return c.do(ctx, http.MethodPost, path, body, out)
}

func (c *Client) patch(ctx context.Context, path string, body, out any) error {
	return c.do(ctx, http.MethodPatch, path, body, out)
}

func (c *Client) do(ctx context.Context, method, path string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	err := c.service.Ask(ctx, method, path, body, out)
	var unanswered *api.NoAnswerError
	if errors.As(err, &unanswered) {
		return unreachable(unanswered.Err)
	}
	return err
}

// unreachable marks the errors of a request that was never sent, so that a caller
// knows that it was not carried out.
func unreachable(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return fmt.Errorf("ask the service: %w", err)
}
