package relay_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay"
)

func TestAFullQueueDropsTheOldestAndSaysSo(t *testing.T) {
	var lost atomic.Int32
	s := start(t, func(c *relay.Config) { c.Record.Lost = func() { lost.Add(1) } })
	entered, release := make(chan struct{}, 1000), make(chan struct{})
	s.rec.BeforeCall = func(recorder.Call) { entered <- struct{}{}; <-release }
	s.ask(call("0", `{"n":0}`))
	s.reply(result("0", "{}"))
	<-entered // the recorder holds this one and the queue is empty
	const more = 260
	for n := range more {
		s.ask(call("1", fmt.Sprint(n)))
		s.reply(result("1", "{}"))
	}
	close(release)
	s.end()
	got := s.recorded()[1:]
	for i, c := range got {
		if want := fmt.Sprint(more - len(got) + i); c.Args != want {
			t.Fatalf("call %d of %d is number %s, want the last ones in order", i, len(got), c.Args)
		}
	}
	// The last answer may be noted when the recorder already makes room.
	if len(got) < 250 || len(got) > 251 || !s.rec.Ends()[0].Lossy {
		t.Errorf("%d calls recorded, lossy %v", len(got), s.rec.Ends()[0].Lossy)
	}
	if int(lost.Load()) != more-len(got) {
		t.Errorf("%d calls recorded, %d said to be lost", len(got), lost.Load())
	}
}

func TestTheHostIsToldOfOnceAndAsItNamedItself(t *testing.T) {
	hosts := make(chan recorder.App, 4)
	s := start(t, func(c *relay.Config) { c.Record.Host = func(host recorder.App) { hosts <- host } })
	for range 2 {
		s.ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"claude-code","version":"2"}}}`)
		s.reply(result("0", "{}"))
	}
	s.end()
	if len(hosts) != 1 || (<-hosts) != (recorder.App{App: "claude-code", Version: "2"}) {
		t.Errorf("told %d times", len(hosts))
	}
}
