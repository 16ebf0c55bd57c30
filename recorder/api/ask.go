package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxProblemBytes bounds what is read of an error's body.
const maxProblemBytes = 1 << 20

// Server is a server to ask. It may be asked by several goroutines.
type Server struct {
	Name  string // in errors: "the service"
	Base  string // "http://127.0.0.1:4812"
	Token string
	HTTP  *http.Client
	// MaxAnswerBytes bounds what is read of an answer.
	MaxAnswerBytes int64
}

// Encoded is a body that is JSON already.
type Encoded []byte

// Stream is a body that is read from where it stands: again, where a connection that
// was kept has to be dialled anew.
type Stream interface {
	Size() int64
	Open() io.ReadCloser
}

// NoAnswerError says that the answer did not come, or not to its end. Whether the
// request was carried out is not known.
type NoAnswerError struct{ Err error }

func (e *NoAnswerError) Error() string { return "no answer: " + e.Err.Error() }

// Unwrap returns what the transport said.
func (e *NoAnswerError) Unwrap() error { return e.Err }

// Ask makes one request, as long as ctx allows, and decodes the answer into out unless
// that is nil. Its error is a *NoAnswerError, a *Problem or a fault of either side.
func (s *Server) Ask(ctx context.Context, method, path string, body, out any) error {
	req, err := s.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return &NoAnswerError{err}
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return s.problem(resp)
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, s.MaxAnswerBytes+1))
	switch {
	case err != nil:
		return &NoAnswerError{fmt.Errorf("read %s's answer: %w", s.Name, err)}
	case int64(len(answer)) > s.MaxAnswerBytes:
		return errors.New(s.Name + "'s answer is too large")
	case out == nil || len(bytes.TrimSpace(answer)) == 0:
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("read %s's answer: %w", s.Name, err)
	}
	return nil
}

func (s *Server) request(ctx context.Context, method, path string, body any) (*http.Request, error) {
	reader, err := reading(body)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.Base+path, reader)
	if err != nil {
		return nil, fmt.Errorf("address %s: %w", s.Name, err)
	}
	if stream, ok := body.(Stream); ok {
		req.ContentLength = stream.Size()
		req.GetBody = func() (io.ReadCloser, error) { return stream.Open(), nil }
	}
	req.Header.Set("Authorization", "Bearer "+s.Token)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

func reading(body any) (io.Reader, error) {
	switch b := body.(type) {
	case nil:
		return nil, nil
	case Encoded:
		return bytes.NewReader(b), nil
	case Stream:
		return b.Open(), nil
	}
	text, err := json.Marshal(body)
	return bytes.NewReader(text), err
}

// problem reads an error answer; one that is no problem document still has its status.
func (s *Server) problem(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProblemBytes))
	if err != nil {
		return &NoAnswerError{fmt.Errorf("read %s's answer: %w", s.Name, err)}
	}
	var p Problem
	if json.Unmarshal(body, &p) != nil {
		p = Problem{}
	}
	if strings.TrimSpace(p.Title) == "" {
		p.Title = fmt.Sprintf("%s answered %d %s", s.Name, resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	p.Status, p.Body = resp.StatusCode, body
	return &p
}
