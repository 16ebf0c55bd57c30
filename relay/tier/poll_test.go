package tier

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/relay/call"
)

// upstream answers like relay.Call, by the name of the tool.
func upstream(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	switch tool {
	case "echo":
		return args, nil
	case "slow":
		<-ctx.Done()
		return nil, &call.NoAnswerError{Cause: ctx.Err()}
	case "unsent":
		return nil, &call.NotSentError{Cause: call.ErrEnded}
	}
	return nil, &call.RPCError{Code: -32602, Message: "no such tool"}
}

func TestDispatchedCallsAreMadeAndAnswered(t *testing.T) {
	play(t, nil, upstream, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		for _, tool := range []string{"echo", "unsent", "other"} {
			s.server.work <- client.Dispatch{ID: "dsp_" + tool, ToolName: tool, Args: json.RawMessage(`{"secret":"kept"}`)}
			s.after(0)
		}
		id := s.server.registrations()[0].ProxyID
		want := []client.Result{
			{ID: "dsp_echo", ProxyID: id, Result: json.RawMessage(`{"secret":"kept"}`), Sent: true},
			{ID: "dsp_unsent", ProxyID: id, Error: "not sent: the server ended"},
			{ID: "dsp_other", ProxyID: id, Error: "no such tool (JSON-RPC error -32602)", Sent: true},
		}
		if diff := cmp.Diff(want, s.server.told()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestADispatchedCallEndsBeforeTheControlServerStopsWaiting(t *testing.T) {
	play(t, nil, upstream, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.server.work <- client.Dispatch{ID: "d", ToolName: "slow", TimeoutMS: 3000}
		s.server.work <- client.Dispatch{ID: "e", ToolName: "echo"}
		s.after(0)
		if got := s.server.told(); len(got) != 1 || got[0].ID != "e" {
			t.Errorf("a slow call keeps others: %+v", got)
		}
		s.after(2700 * time.Millisecond)
		if got := s.server.told(); len(got) != 2 || !got[1].Sent || got[1].Result != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestSwitchedOffNoCallIsMade(t *testing.T) {
	var off atomic.Bool
	play(t, func(c *Config) { c.Paused = off.Load }, upstream, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		off.Store(true)
		s.server.work <- client.Dispatch{ID: "d", ToolName: "echo"}
		s.after(0)
		if got := s.server.told(); len(got) != 1 || got[0].Sent || got[0].Error == "" {
			t.Errorf("%+v", got)
		}
	})
}

func TestAnOpenPollNoticesADeathAtOnce(t *testing.T) {
	play(t, nil, upstream, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.server.kill()
		s.after(0)
		s.is(lost)
	})
}

func TestADeathEndsTheCallsThatNobodyWaitsForAnyMore(t *testing.T) {
	play(t, nil, upstream, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.server.work <- client.Dispatch{ID: "d", ToolName: "slow"}
		s.after(0)
		s.server.kill()
		s.server.start()
		s.after(longPause)
		s.is(bound)
	})
}

func TestAPollByAStrangerIsFollowedByARegistration(t *testing.T) {
	play(t, nil, upstream, func(s *stage) {
		s.server.set(func() {
			s.server.pollAnswer = func() (client.Dispatch, error) {
				if len(s.server.registrations()) < 2 {
					return client.Dispatch{}, &client.Refused{Status: 404, Code: client.CodeUnknownProxy}
				}
				time.Sleep(time.Hour)
				return client.Dispatch{}, client.ErrUnreachable
			}
		})
		s.server.start()
		s.after(longPause)
		if got := len(s.server.registrations()); got != 2 {
			t.Errorf("registered %d times", got)
		}
		s.is(bound)
		s.after(time.Hour) // so that the poll ends
	})
}

func TestAnUpstreamThatDoesNotReadKeepsNoControlServerWaiting(t *testing.T) {
	var stuck chan struct{}
	call := func(context.Context, string, json.RawMessage) (json.RawMessage, error) {
		<-stuck // whatever its context says
		return nil, errors.New("it ended")
	}
	play(t, nil, call, func(s *stage) {
		stuck = make(chan struct{}) // in the bubble of fake time
		s.server.start()
		s.after(time.Second)
		s.server.work <- client.Dispatch{ID: "d", ToolName: "any"}
		s.after(0)
		s.server.kill()
		s.server.start()
		s.after(longPause)
		s.is(bound)
		close(stuck)
	})
}

func TestAControlServerThatDispatchesNothingIsAskedSeldom(t *testing.T) {
	for name, answer := range map[string]func() (client.Dispatch, error){
		"at once": func() (client.Dispatch, error) { return client.Dispatch{}, nil },
		"refuses": func() (client.Dispatch, error) { return client.Dispatch{}, &client.Refused{Status: 404} },
		"garbage": func() (client.Dispatch, error) { return client.Dispatch{}, errors.New("garbage") },
	} {
		play(t, nil, upstream, func(s *stage) {
			s.server.set(func() { s.server.pollAnswer = answer })
			s.server.start()
			s.after(5 * time.Minute)
			if s.server.polls() > 12 {
				t.Errorf("%s: asked %d times in five minutes", name, s.server.polls())
			}
			s.is(bound)
		})
	}
}
