package control

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bir-run/bir/control/client/event"
)

func textLog(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// TestPastItsDeadlineAHookIsAnsweredWithNothing waits in time that does not pass.
func TestPastItsDeadlineAHookIsAnsweredWithNothing(t *testing.T) {
	for _, e := range event.All() {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			applied := false
			s := New(Config{Logger: textLog(&log), Book: &fakeBook{hook: func(string, []byte) []byte {
				time.Sleep(e.Answer + time.Second)
				applied = true
				return []byte(`{"late":true}`)
			}}})
			start := time.Now()
			if got := string(s.ask(t.Context(), e, nil)); got != "{}" {
				t.Errorf("%s: %s", e.Name, got)
			}
			if took := time.Since(start); took != e.Answer {
				t.Errorf("%s: answered after %v, want %v", e.Name, took, e.Answer)
			}
			s.hooks.Wait()
			if !applied {
				t.Errorf("%s: the event is not applied", e.Name)
			}
			if text := log.String(); !strings.Contains(text, "control.hook_deadline") || !strings.Contains(text, e.Name) {
				t.Errorf("%s: the log says %q", e.Name, text)
			}
			if s.missed.counts[e.Name] != 1 {
				t.Errorf("%s: missed %v", e.Name, s.missed.counts)
			}
		})
	}
}

func TestAnEventIsAppliedWhenItsHookIsGone(t *testing.T) {
	began, release, applied := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r := serve(t, Config{Book: &fakeBook{hook: func(string, []byte) []byte {
		close(began)
		<-release
		close(applied)
		return nil
	}}})
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/session/stop", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	gone := make(chan struct{})
	go func() { // ends with leave
		defer close(gone)
		if res, err := r.http.Do(req); err == nil {
			res.Body.Close()
		}
	}()
	<-began
	leave()
	<-gone
	close(release)
	<-applied
}

func TestABookThatPanicsCostsOneAnswer(t *testing.T) {
	var log bytes.Buffer
	panics := true
	r := serve(t, Config{Logger: textLog(&log), Book: &fakeBook{hook: func(string, []byte) []byte {
		if panics {
			panic("broken")
		}
		return []byte(`{"ok":1}`)
	}}})
	if status, answer := r.post("/tool/pre", `{"secret":"s3cret"}`); status != http.StatusOK || answer != "{}" {
		t.Errorf("status %d: %s", status, answer)
	}
	panics = false
	if _, answer := r.post("/tool/pre", "{}"); answer != `{"ok":1}` {
		t.Errorf("the next answer is %s", answer)
	}
	r.stop()
	r.ended()
	if text := log.String(); !strings.Contains(text, "control.hook_panic") || strings.Contains(text, "s3cret") {
		t.Errorf("the log says %q", text)
	}
}

func TestABookThatSaysNothingAnswersNothing(t *testing.T) {
	r := serve(t, Config{})
	if status, answer := r.post("/session/end", "not even JSON"); status != http.StatusOK || answer != "{}" {
		t.Errorf("status %d: %s", status, answer)
	}
}
