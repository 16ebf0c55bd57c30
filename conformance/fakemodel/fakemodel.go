// Package fakemodel is a stand-in for the Messages API, with which a real client can
// be driven over loopback: it streams replies from a script and keeps what it was
// asked. It judges nothing and reaches nothing; a request that no script foresees is
// answered with an error and kept for the test to find.
package fakemodel

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Headers in which the client says whose request it is.
const (
	headerSession = "X-Claude-Code-Session-Id"
	headerAgent   = "X-Claude-Code-Agent-Id"
)

// Script is what the model says. Replies are used one by one.
type Script struct {
	Main []Reply
	// Sessions holds what the main threads of sessions are told whose ids are known
	// beforehand.
	Sessions map[string][]Reply
	// Agents holds the replies to subagents, by a text that the agent's task holds.
	Agents map[string][]Reply
	// Side answers requests without tools: a title, a summary.
	Side string
}

// Request is one that came.
type Request struct {
	Session string
	Agent   string // of the subagent that asks; empty for the main thread
	// Thread names who asks as the script does: empty for the main thread, the session's
	// id where that has replies of its own, the text that tells the subagent, or "side".
	Thread string
	At     time.Time // when it was read
	Body   []byte
}

// Server is the stand-in.
type Server struct {
	listener net.Listener
	http     http.Server
	serving  sync.WaitGroup

	mu     sync.Mutex
	script Script
	agents map[string]string // agent id to the key of its script
	asked  []Request
	strays []string
}

// Start listens on a loopback port of its own.
func Start(script Script) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{listener: l, script: script, agents: map[string]string{}}
	s.http.Handler = s
	// Ends with Close.
	s.serving.Go(func() { _ = s.http.Serve(l) })
	return s, nil
}

// URL is the base of the API.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends the server and the requests under way.
func (s *Server) Close() {
	_ = s.http.Close()
	s.serving.Wait()
}

// Say adds replies to the main thread.
func (s *Server) Say(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script.Main = append(s.script.Main, replies...)
}

// Asked returns the requests so far, oldest first.
func (s *Server) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Strays names the requests that no script foresaw.
func (s *Server) Strays() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.strays)
}

// Left counts the replies to the main thread that nobody asked for.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.script.Main)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client hung up
	}
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		s.messages(w, r, body)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		answer(w, http.StatusOK, map[string]int{"input_tokens": len(body) / 4})
	case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
		answer(w, http.StatusOK, map[string]any{"data": []any{}, "has_more": false})
	case r.URL.Path == "/" || r.Method == http.MethodHead:
		answer(w, http.StatusOK, struct{}{})
	default:
		s.stray(r.Method + " " + r.URL.Path)
		refuse(w, http.StatusNotFound, "not_found_error", "no such route in this script")
	}
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request, body []byte) {
	var head struct {
		Model  string            `json:"model"`
		Stream bool              `json:"stream"`
		Tools  []json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &head); err != nil {
		s.stray("a body that is no JSON")
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	reply, err := s.take(Request{Session: r.Header.Get(headerSession), Agent: r.Header.Get(headerAgent), At: time.Now(), Body: body}, len(head.Tools) == 0)
	if err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	if !reply.wait(r.Context()) {
		return
	}
	reply.write(w, head.Model, head.Stream)
}

// take keeps a request and finds its reply. One without tools is beside the story.
func (s *Server) take(r Request, side bool) (Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.asked = append(s.asked, r) }()
	switch {
	case side:
		r.Thread = "side"
		return Says(s.script.Side), nil
	case r.Agent != "":
		key, err := s.agentLocked(r)
		if err != nil {
			return Reply{}, err
		}
		r.Thread = key
		return s.nextOfLocked(s.script.Agents, key)
	case s.script.Sessions[r.Session] != nil:
		r.Thread = r.Session
		return s.nextOfLocked(s.script.Sessions, r.Session)
	}
	return s.nextLocked("the main thread", &s.script.Main)
}

func (s *Server) nextOfLocked(scripts map[string][]Reply, key string) (Reply, error) {
	replies := scripts[key]
	reply, err := s.nextLocked(key, &replies)
	scripts[key] = replies
	return reply, err
}

func (s *Server) nextLocked(who string, replies *[]Reply) (Reply, error) {
	if len(*replies) == 0 {
		s.strays = append(s.strays, who+" asked once more than the script foresees")
		return Reply{}, errors.New("the script is at its end")
	}
	reply := (*replies)[0]
	*replies = (*replies)[1:]
	return reply, nil
}

// agentLocked finds which script a subagent follows: its id is the client's own, so
// that only its task can tell.
func (s *Server) agentLocked(asked Request) (string, error) {
	if key, known := s.agents[asked.Agent]; known {
		return key, nil
	}
	for key := range s.script.Agents {
		if bytes.Contains(asked.Body, []byte(key)) {
			s.agents[asked.Agent] = key
			return key, nil
		}
	}
	s.strays = append(s.strays, "a subagent without a script")
	return "", errors.New("no script for this subagent")
}

func (s *Server) stray(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strays = append(s.strays, what)
}
