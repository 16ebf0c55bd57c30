// Package client is how every process of bir reaches the service: typed calls for
// its routes, and StreamRecorder, which reports runs through them without ever
// making its caller wait. What StreamRecorder sends was redacted and truncated
// here, in this process. The client itself sends what it is given. The package
// must never find, start or judge the service: it is handed a Connect function.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

const (
	// defaultTimeout bounds one request. Calculating a long run is the slowest.
	defaultTimeout = 60 * time.Second
	// maxAnswerBytes bounds what is read of an answer: a run of many steps at
	// 64 KiB a payload fits.
	maxAnswerBytes = 512 << 20
	// maxProblemBytes bounds what is kept of an error's body.
	maxProblemBytes = 1 << 20
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
	base    string
	token   string
	http    *http.Client
	timeout time.Duration
}

// New returns a client; it dials nothing yet.
func New(cfg Config) *Client {
	c := &Client{base: strings.TrimRight(cfg.BaseURL, "/"), token: cfg.Token, http: cfg.HTTP, timeout: cfg.Timeout}
	if c.http == nil {
		c.http = http.DefaultClient
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	return c
}

// BaseURL is the address of the service.
func (c *Client) BaseURL() string { return c.base }

// Problem is an error that the service answered with (RFC 9457).
type Problem struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Body   []byte `json:"-"` // as it came: some codes carry more
}

func (p *Problem) Error() string {
	text := p.Title
	if text == "" {
		text = fmt.Sprintf("the service answered %d %s", p.Status, http.StatusText(p.Status))
	}
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

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
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return problemOf(resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	if out == nil || len(answer) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	return nil
}

// encoded is a body that is JSON already.
type encoded []byte

func (c *Client) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	reader, err := bodyReader(body)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, reader)
	if err != nil {
		return nil, fmt.Errorf("address the service: %w", err)
	}
	if steps, ok := reader.(*list); ok {
		req.ContentLength = steps.size()
		req.GetBody = func() (io.ReadCloser, error) { return newList(steps.records), nil }
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func bodyReader(body any) (io.Reader, error) {
	switch b := body.(type) {
	case nil:
		return nil, nil
	case encoded:
		return bytes.NewReader(b), nil
	case *list:
		return b, nil
	}
	text, err := json.Marshal(body)
	return bytes.NewReader(text), err
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

// problemOf reads an error answer; one that is no problem document still has its
// status.
func problemOf(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProblemBytes))
	if err != nil {
		return fmt.Errorf("read the service's answer: %w", err)
	}
	var p Problem
	if err := json.Unmarshal(body, &p); err != nil {
		p = Problem{}
	}
	p.Status, p.Body = resp.StatusCode, body
	return &p
}
