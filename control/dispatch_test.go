package control

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client"
)

// proxy polls once, answers with answer and returns what it was handed.
func (r *running) proxy(id string, answer client.Result) client.Dispatch {
	r.Helper()
	call := get[client.Dispatch](r, client.PathPoll, client.Poll{ProxyID: id})
	answer.ID, answer.ProxyID = call.ID, id
	get[struct{}](r, client.PathResult, answer)
	return call
}

func TestACallIsMadeByThePollingProxy(t *testing.T) {
	r := serve(t, Config{})
	get[client.Registered](r, client.PathRegister, client.Register{ProxyID: "prx_1", ServerName: "fleet"})
	get[client.Registered](r, client.PathRegister, client.Register{ProxyID: "prx_2", ServerName: "other"})
	handed := make(chan client.Dispatch, 1)
	go func() { // ends with its one call
		handed <- r.proxy("prx_1", client.Result{Result: json.RawMessage(`{"content":[]}`), Sent: true})
	}()
	r.awaitPoll("prx_1") // a call is not kept for long for one that does not ask
	order := client.DispatchOrder{ServerName: "fleet", ToolName: "list", Args: json.RawMessage(`{"n":1.0}`), TimeoutMS: 60_000}
	got := get[client.Result](r, client.PathDispatch, order)
	call := <-handed
	want := client.Dispatch{ID: call.ID, ToolName: "list", Args: json.RawMessage(`{"n":1.0}`), TimeoutMS: 60_000}
	if diff := cmp.Diff(want, call); diff != "" || !strings.HasPrefix(call.ID, "dsp_") {
		t.Error(diff, call.ID)
	}
	if diff := cmp.Diff(client.Result{ID: call.ID, ProxyID: "prx_1", Result: json.RawMessage(`{"content":[]}`), Sent: true}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutAProxyNothingIsSent(t *testing.T) {
	r := serve(t, Config{})
	status, answer := r.post(client.PathDispatch, `{"serverName":"fleet","toolName":"list"}`)
	if status != http.StatusConflict || !strings.Contains(answer, string(CodeNoProxy)) {
		t.Errorf("status %d: %s", status, answer)
	}
}

func TestTwoProxiesOfOneServerMustBeToldApart(t *testing.T) {
	s := New(Config{Book: &fakeBook{}})
	now := time.Now()
	s.desk.admit(client.Register{ProxyID: "prx_1", ServerName: "fleet", SessionID: "a"}, now)
	s.desk.admit(client.Register{ProxyID: "prx_2", ServerName: "fleet", SessionID: "b"}, now)
	put := func(order client.DispatchOrder) (string, error) {
		order.ServerName = "fleet"
		j := &job{}
		err := s.desk.put(order, j, now)
		if j.seat == nil || err != nil {
			return "", err
		}
		return j.seat.proxy.ProxyID, nil
	}
	if _, err := put(client.DispatchOrder{}); !errors.Is(err, ErrAmbiguousProxy) {
		t.Errorf("error %v", err)
	}
	for _, c := range []struct {
		order client.DispatchOrder
		want  string
	}{{client.DispatchOrder{ProxyID: "prx_2"}, "prx_2"}, {client.DispatchOrder{SessionID: "a"}, "prx_1"}} {
		if got, err := put(c.order); err != nil || got != c.want {
			t.Errorf("%+v: %s, %v", c.order, got, err)
		}
	}
	if _, err := put(client.DispatchOrder{SessionID: "c"}); !errors.Is(err, ErrNoProxy) {
		t.Errorf("error %v", err)
	}
}

// TestWhatIsKnownOfACallThatDidNotAnswer runs in time that does not pass.
func TestWhatIsKnownOfACallThatDidNotAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		polls bool
		want  error
		after time.Duration
	}{
		"nobody took it":  {false, ErrNoProxy, pickUp},
		"whoever took it": {true, ErrNoAnswer, 3*time.Second + answerSlack},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := New(Config{Book: &fakeBook{}})
			s.desk.admit(client.Register{ProxyID: "prx_1", ServerName: "fleet"}, time.Now())
			if c.polls {
				go func() { // ends with the call that it takes
					_, _ = s.desk.poll(t.Context(), "prx_1", time.Minute, s.ending.begun)
				}()
			}
			start := time.Now()
			_, err := s.Dispatch(t.Context(), client.DispatchOrder{ServerName: "fleet", ToolName: "t", TimeoutMS: 3000})
			if !errors.Is(err, c.want) || time.Since(start) != c.after {
				t.Errorf("%s: after %v: %v", name, time.Since(start), err)
			}
			if at := s.desk.seats["prx_1"]; len(at.queue) != 0 || len(s.desk.out) != 0 {
				t.Errorf("%s: it is still on the desk", name)
			}
		})
	}
}

func TestALateResultIsRefusedAndAnothersToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Book: &fakeBook{}})
		s.desk.admit(client.Register{ProxyID: "prx_1", ServerName: "fleet"}, time.Now())
		calls := make(chan client.Dispatch, 1)
		go func() { // ends with the call that it takes
			call, _ := s.desk.poll(t.Context(), "prx_1", time.Minute, s.ending.begun)
			if s.desk.settle(client.Result{ID: call.ID, ProxyID: "prx_2"}) {
				t.Error("another proxy's result was taken")
			}
			calls <- call
		}()
		if _, err := s.Dispatch(t.Context(), client.DispatchOrder{ServerName: "fleet", ToolName: "t", TimeoutMS: 1}); !errors.Is(err, ErrNoAnswer) {
			t.Error(err)
		}
		if call := <-calls; s.desk.settle(client.Result{ID: call.ID, ProxyID: "prx_1"}) {
			t.Error("a late result was taken")
		}
	})
}

func TestACallIsNotHandedToAProxyThatIsGone(t *testing.T) {
	d := newDesk()
	now := time.Now()
	d.admit(client.Register{ProxyID: "prx_1", ServerName: "fleet"}, now)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if err := d.put(client.DispatchOrder{ServerName: "fleet"}, &job{taken: make(chan struct{})}, now); err != nil {
		t.Fatal(err)
	}
	call, err := d.poll(ctx, "prx_1", time.Minute, nil)
	if err != nil || call.ID != "" || len(d.seats["prx_1"].queue) != 1 {
		t.Errorf("call %+v, error %v", call, err)
	}
	if d.alive(d.seats["prx_1"], now) {
		t.Error("the proxy still counts as alive")
	}
}

func TestAnEmptyPollEndsInTimeAndSilentProxiesAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.admit(client.Register{ProxyID: "prx_1", ServerName: "fleet"}, time.Now())
		start := time.Now()
		if call, err := d.poll(t.Context(), "prx_1", 7*time.Second, nil); err != nil || call.ID != "" || time.Since(start) != 7*time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(start), call, err)
		}
		time.Sleep(seatKept + time.Second)
		d.admit(client.Register{ProxyID: "prx_2", ServerName: "fleet"}, time.Now())
		if len(d.seats) != 1 {
			t.Errorf("%d proxies are remembered", len(d.seats))
		}
	})
}

// TestManyCallsAtOnceAreEachMadeOnce lets callers and polls race, in time that does not
// pass: a call is not kept for long for a proxy that does not ask.
func TestManyCallsAtOnceAreEachMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers, pollers = 50, 4
		s := New(Config{Book: &fakeBook{}})
		s.desk.admit(client.Register{ProxyID: "prx_1", ServerName: "fleet"}, time.Now())
		ctx, stop := context.WithCancel(t.Context())
		var mu sync.Mutex // guards made
		made := map[string]int{}
		var polling, calling sync.WaitGroup
		for range pollers {
			polling.Go(func() {
				for ctx.Err() == nil {
					call, err := s.desk.poll(ctx, "prx_1", time.Minute, s.ending.begun)
					if err != nil {
						t.Error(err)
					}
					if call.ID == "" {
						continue
					}
					mu.Lock()
					made[call.ToolName]++
					mu.Unlock()
					s.desk.settle(client.Result{ID: call.ID, ProxyID: "prx_1", Result: call.Args, Sent: true})
				}
			})
		}
		for i := range callers {
			calling.Go(func() {
				name := string(rune('A' + i))
				args := json.RawMessage(`"` + name + `"`)
				result, err := s.Dispatch(ctx, client.DispatchOrder{ServerName: "fleet", ToolName: name, Args: args})
				if err != nil || string(result.Result) != string(args) {
					t.Errorf("%s: %s, %v", name, result.Result, err)
				}
			})
		}
		calling.Wait()
		stop()
		polling.Wait()
		for name, n := range made {
			if n != 1 {
				t.Errorf("%s was made %d times", name, n)
			}
		}
		if len(made) != callers {
			t.Errorf("%d of %d calls were made", len(made), callers)
		}
	})
}
