package tier

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

// Whatever control servers do, each call ends somewhere: with a control server, in the
// proxy's own run, or among those that a control server is told to be lost.
func TestNoCallIsLostUnsaid(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { lives(t, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

// lives lets control servers come and go while calls end.
func lives(t *testing.T, random *rand.Rand) {
	s, kept := newServer(), &own{}
	s.answer.Lists = random.IntN(2) == 0
	tier := New(Config{Self: client.Register{ServerName: "fleet"}, Recorder: kept, Find: s.find})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { tier.Run(ctx, upstream) })
	tier.StartRun(recorder.Run{ID: "run_1"})
	calls, up := 0, false
	for range 60 {
		switch random.IntN(4) {
		case 0:
			if up {
				s.kill()
			} else {
				s.start()
			}
			up = !up
		case 1:
			time.Sleep(time.Duration(random.IntN(20_000)) * time.Millisecond)
		default:
			for range random.IntN(60) {
				tier.RecordCall("run_1", recorder.Call{ID: fmt.Sprint(calls), ToolName: fmt.Sprint(calls), Args: json.RawMessage("{}")})
				calls++
			}
		}
	}
	tier.FinishRun("run_1", recorder.Finish{})
	if err := tier.Flush(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	all.Wait()
	seen := map[string]int{}
	for _, r := range s.reports() {
		seen[r.ToolName]++
	}
	for _, name := range kept.tools() {
		seen[name]++
	}
	if len(seen) != calls {
		t.Errorf("%d of %d calls are anywhere", len(seen), calls)
	}
	if len(kept.begun()) > 1 || len(kept.begun()) != len(kept.ended()) {
		t.Errorf("%d runs of its own, %d ended", len(kept.begun()), len(kept.ended()))
	}
	inOrder(t, toolsOf(s.reports()))
	inOrder(t, kept.tools())
}

// inOrder holds that calls were told in the order in which they ended.
func inOrder(t *testing.T, names []string) {
	t.Helper()
	last := -1
	for _, name := range names {
		var n int
		if _, err := fmt.Sscan(name, &n); err != nil {
			t.Fatal(err)
		}
		if n <= last {
			t.Errorf("call %d after call %d", n, last)
		}
		last = n
	}
}
