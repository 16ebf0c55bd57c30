package tier

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

func TestCallsWaitForAControlServerThatComesLate(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.call("early")
		s.after(9 * time.Second)
		s.server.start()
		s.after(time.Second)
		s.call("late")
		s.after(0)
		s.is(bound)
		if diff := cmp.Diff([]string{"early", "late"}, toolsOf(s.server.reports())); diff != "" {
			t.Error(diff)
		}
		s.finish()
		if len(s.own.begun()) > 0 {
			t.Errorf("a run of its own: %+v", s.own.begun())
		}
	})
}

func TestWithoutAControlServerTheWaitingCallsOpenTheProxysOwnRun(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.calls(3)
		s.after(window - time.Millisecond)
		if len(s.own.begun()) > 0 {
			t.Error("a run before the window was over")
		}
		s.after(time.Millisecond)
		s.is(standalone)
		s.call("later")
		if diff := cmp.Diff([]string{"t0", "t1", "t2", "later"}, s.own.tools()); diff != "" {
			t.Error(diff)
		}
		s.finish()
		if len(s.own.begun()) != 1 || len(s.own.ended()) != 1 || s.own.ended()[0].Lossy {
			t.Errorf("runs %+v, ends %+v", s.own.begun(), s.own.ended())
		}
	})
}

func TestAStandaloneProxyBindsWhenAControlServerComes(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.call("own")
		s.after(window)
		s.server.start()
		s.after(lookAgain)
		s.is(bound)
		s.call("reported")
		s.after(0)
		s.finish()
		reports := s.server.reports()
		if diff := cmp.Diff([]string{"reported"}, toolsOf(reports)); diff != "" {
			t.Error(diff)
		}
		if reports[0].Lost > 0 {
			t.Errorf("%d calls are said to be lost, which no control server was there for", reports[0].Lost)
		}
		if diff := cmp.Diff([]string{"own"}, s.own.tools()); diff != "" || s.own.ended()[0].Lossy {
			t.Error(diff, s.own.ended())
		}
	})
}

func TestUnboundProxyLooksAgainEveryFifteenSeconds(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.after(window)
		before := s.server.looks()
		s.after(4 * lookAgain)
		if looks := s.server.looks() - before; looks != 4 {
			t.Errorf("%d looks in a minute", looks)
		}
	})
}

func TestAnEntryOfEveryProjectRecordsNothingWhereNobodyAsked(t *testing.T) {
	play(t, func(c *Config) { c.NoOwnRun = true }, nil, func(s *stage) {
		s.calls(maxWaiting + 5)
		s.after(window)
		s.is(passthrough)
		s.call("dropped")
		s.server.start()
		s.after(lookAgain)
		s.call("reported")
		s.after(0)
		s.finish()
		if len(s.own.begun()) > 0 || len(s.own.tools()) > 0 {
			t.Errorf("recorded %v", s.own.tools())
		}
		if diff := cmp.Diff([]string{"reported"}, toolsOf(s.server.reports())); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPassthroughAfterALossRecordsNothing(t *testing.T) {
	play(t, func(c *Config) { c.NoOwnRun = true }, nil, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.server.kill()
		s.call("unsent")
		s.after(2 * window)
		s.call("dropped")
		s.is(passthrough)
		s.finish()
		if len(s.own.begun()) > 0 {
			t.Error("a run")
		}
	})
}

func TestForcedStandaloneLooksForNobody(t *testing.T) {
	play(t, func(c *Config) { c.Standalone = true }, nil, func(s *stage) {
		s.server.start()
		s.call("own")
		s.after(time.Minute)
		if s.server.looks() > 0 || len(s.server.registrations()) > 0 {
			t.Error("a control server was looked for")
		}
		if diff := cmp.Diff([]string{"own"}, s.own.tools()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAControlServerThatComesBackGetsWhatWaited(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.server.kill()
		s.calls(3)
		s.after(5 * time.Second)
		s.is(lost)
		s.server.start()
		s.after(longPause)
		s.finish()
		reports := s.server.reports()
		if diff := cmp.Diff([]string{"t0", "t1", "t2"}, toolsOf(reports)); diff != "" {
			t.Error(diff)
		}
		if len(s.own.begun()) > 0 || reports[0].Lost > 0 {
			t.Errorf("runs %+v, lost %d", s.own.begun(), reports[0].Lost)
		}
		known := s.server.registrations()
		if len(known) != 2 || known[0].ProxyID == "" || known[0].ProxyID != known[1].ProxyID {
			t.Errorf("registered as %+v", known)
		}
	})
}

func TestAControlServerThatStaysAwayIsADowngradeIntoOneLossyRun(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		for range 2 {
			s.server.start()
			s.after(lookAgain)
			s.call("reported")
			s.after(0)
			s.server.kill()
			s.call("unsent")
			s.after(window)
			s.is(standalone)
			s.call("own")
		}
		s.server.start()
		s.after(lookAgain)
		s.call("back")
		s.after(0)
		s.finish()
		if diff := cmp.Diff([]string{"unsent", "own", "unsent", "own"}, s.own.tools()); diff != "" {
			t.Error(diff)
		}
		if len(s.own.begun()) != 1 || len(s.own.ended()) != 1 || !s.own.ended()[0].Lossy {
			t.Errorf("runs %+v, ends %+v", s.own.begun(), s.own.ended())
		}
		reports := s.server.reports()
		if len(reports) != 3 || reports[1].Lost != 2 || reports[2].Lost != 2 {
			t.Errorf("reported %+v", reports)
		}
	})
}

func TestOnlyAControlServerThatWasThereIsADowngrade(t *testing.T) {
	for _, lives := range []bool{true, false} {
		var log strings.Builder
		play(t, func(c *Config) {
			c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
		}, upstream, func(s *stage) {
			if lives {
				s.server.start()
				s.after(time.Second)
				s.server.kill()
			}
			s.after(2 * window)
		})
		if got := log.String(); strings.Contains(got, "msg=tier.downgrade") != lives {
			t.Errorf("one was there: %v; logged %q", lives, got)
		}
	}
}

func TestAFullBufferEndsTheWaitWithNothingLost(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.calls(maxWaiting + 1)
		s.is(standalone)
		s.finish()
		if got := len(s.own.tools()); got != maxWaiting+1 || s.own.ended()[0].Lossy {
			t.Errorf("%d calls, ends %+v", got, s.own.ended())
		}
	})
}

func TestABufferWithoutAnotherWayOutDropsTheOldestAndCounts(t *testing.T) {
	play(t, func(c *Config) { c.NoOwnRun = true }, nil, func(s *stage) {
		s.calls(maxWaiting + 3)
		s.server.start()
		s.after(longPause)
		reports := s.server.reports()
		if len(reports) != maxWaiting || reports[0].ToolName != "t3" || reports[0].Lost != 3 || reports[1].Lost != 0 {
			t.Errorf("%d reports, the first %+v", len(reports), reports[0])
		}
	})
}

func TestTheEndOfTheHostSavesWhatWaits(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.calls(2)
		s.finish()
		if got := len(s.own.tools()); got != 2 || len(s.own.ended()) != 1 {
			t.Errorf("%d calls, ends %+v", got, s.own.ended())
		}
	})
}

func TestTheEndWaitsForABoundControlServerButNotForEver(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.calls(5)
		began := time.Now()
		s.finish()
		if got := len(s.server.reports()); got != 5 || len(s.own.begun()) > 0 || time.Since(began) > 0 {
			t.Errorf("%d reports, runs %+v, after %v", got, s.own.begun(), time.Since(began))
		}
	})
	play(t, nil, nil, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.server.set(func() { s.server.hangs = true })
		s.calls(2)
		began := time.Now()
		s.finish()
		if took := time.Since(began); took != drainTimeout {
			t.Errorf("the end took %v", took)
		}
		if got := len(s.own.tools()); got != 2 || !s.own.ended()[0].Lossy {
			t.Errorf("%d calls, ends %+v", got, s.own.ended())
		}
	})
}

func TestAReportThatIsRefusedTwiceIsLostAndTheRestGoesOn(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.server.answer.Lists = false
		s.server.start()
		s.after(time.Second)
		s.server.set(func() {
			s.server.refuse = func(r client.StepReport) error {
				if r.ToolName == "t0" {
					return &client.Refused{Status: 400}
				}
				return nil
			}
		})
		s.calls(2)
		s.after(0)
		reports := s.server.reports()
		if diff := cmp.Diff([]string{"t1"}, toolsOf(reports)); diff != "" || reports[0].Lost != 1 {
			t.Errorf("%s %+v", diff, reports)
		}
		if got := len(s.server.registrations()); got != 2 {
			t.Errorf("registered %d times", got)
		}
	})
}

func TestAControlServerThatDoesNotKnowUsIsToldAgain(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.server.set(func() {
			s.server.refuse = func(client.StepReport) error { // which holds the lock
				if len(s.server.registered) < 2 {
					return &client.Refused{Status: 404}
				}
				return nil
			}
		})
		s.call("a")
		s.after(0)
		if reports := s.server.reports(); len(reports) != 1 || reports[0].Lost != 0 {
			t.Errorf("reported %+v", reports)
		}
	})
}

func TestAHostThatNamesItselfLateIsRegisteredAgain(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.Host(recorder.App{App: "claude-code", Version: "2"})
		s.after(0)
		known := s.server.registrations()
		if len(known) != 2 || known[0].Host.App != "" || known[1].Host.App != "claude-code" {
			t.Errorf("registered as %+v", known)
		}
	})
}

func TestWhatTheRelayLostIsToldToTheControlServer(t *testing.T) {
	play(t, nil, nil, func(s *stage) {
		s.server.start()
		s.after(time.Second)
		s.Lost()
		s.Lost()
		s.calls(2)
		s.after(0)
		reports := s.server.reports()
		if len(reports) != 2 || reports[0].Lost != 2 || reports[1].Lost != 0 {
			t.Errorf("reported %+v", reports)
		}
	})
}

func TestAReportCarriesWhatCorrelatesIt(t *testing.T) {
	const key = "00ff"
	play(t, nil, nil, func(s *stage) {
		s.server.set(func() { s.server.answer.FingerprintKey = key })
		s.server.start()
		s.after(time.Second)
		s.call("a")
		s.RecordCall("run_1", recorder.Call{ID: "h1", HookID: "h1", ServerName: "fleet", ToolName: "b",
			Args: []byte(`{"password":"hunter2hunter2"}`), Duration: 1500 * time.Microsecond})
		s.after(0)
		reports := s.server.reports()
		a, b := reports[0], reports[1]
		if a.ToolUseID != "toolu_a" || a.CallID != "" || a.Fingerprint != client.Fingerprint(key, "fleet", "a", []byte(`{"n": 1.0}`)) {
			t.Errorf("a: %+v", a)
		}
		if b.ToolUseID != "" || b.CallID != "h1" || b.DurationMS != 1.5 {
			t.Errorf("b: %+v", b)
		}
		if string(b.Args) == `{"password":"hunter2hunter2"}` {
			t.Error("a secret left the process")
		}
	})
}

func TestReviveIsAskedUntilItHasStartedOneAndOncePerLoss(t *testing.T) {
	var asked atomic.Int32
	var able atomic.Bool
	revive := func() bool { asked.Add(1); return able.Load() }
	play(t, func(c *Config) { c.Revive = revive }, nil, func(s *stage) {
		s.after(time.Minute)
		if asked.Load() > 0 {
			t.Error("asked before there was one to die")
		}
		s.server.start()
		s.after(lookAgain)
		s.server.kill()
		s.call("notices")
		s.after(time.Second)
		if asked.Load() < 2 {
			t.Errorf("asked %d times in a second", asked.Load())
		}
		able.Store(true)
		s.after(longPause)
		before := asked.Load()
		s.after(time.Minute)
		if asked.Load() != before {
			t.Error("asked again")
		}
		s.server.start()
		s.after(lookAgain)
		s.is(bound)
		s.server.kill()
		s.call("notices")
		s.after(0)
		if asked.Load() != before+1 {
			t.Errorf("asked %d times after the second loss", asked.Load()-before)
		}
	})
}

func TestSwitchedOffNobodyIsLookedFor(t *testing.T) {
	var off atomic.Bool
	off.Store(true)
	play(t, func(c *Config) { c.Paused = off.Load; c.Revive = func() bool { t.Error("revived"); return true } }, nil, func(s *stage) {
		s.server.start()
		s.after(time.Minute)
		if s.server.looks() > 0 {
			t.Error("looked while off")
		}
		off.Store(false)
		s.after(lookAgain)
		s.is(bound)
	})
}

func TestCallIDsAreDeclaredOnlyWhereOneMayBeInjected(t *testing.T) {
	setUp := false
	play(t, func(c *Config) { c.SetUp = func() bool { return setUp } }, nil, func(s *stage) {
		declares := func(want bool, when string) {
			t.Helper()
			if s.Declares() != want {
				t.Errorf("%s: declares %v", when, !want)
			}
		}
		declares(false, "seeking where nothing is set up")
		setUp = true
		declares(true, "seeking where one is expected")
		s.server.set(func() { s.server.answer.CallIDs = true })
		s.server.start()
		s.after(longPause)
		declares(true, "bound to one that injects")
		s.server.kill()
		s.call("notices")
		s.after(0)
		declares(true, "lost")
		s.after(window)
		declares(false, "standalone")
		s.server.set(func() { s.server.answer.CallIDs = false })
		s.server.start()
		s.after(lookAgain)
		declares(false, "bound to one that does not")
	})
}
