package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
)

func TestRunGoesOnAfterAKill(t *testing.T) {
	d := newDesk(t)
	d.ask("say hi")
	d.pre("t1", "Bash", obj{"command": "ls"})
	d.kill()
	d.post("t1", "Bash", obj{"command": "ls"}, obj{"stdout": "."})
	d.kill()
	d.stop("done")
	d.kill()
	d.wait(time.Minute)
	d.kill()
	r := d.one()
	if steps := r.steps(t); len(steps) != 1 || steps[0].Status != recorder.StatusOK || r.finish.Lossy {
		t.Errorf("steps %+v, end %+v", steps, r.finish)
	}
}

func TestTornJournalMarksWhatWasOpenLossy(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	f, err := os.OpenFile(d.cfg.Journal, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"event":{"kind":"PreTo`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	d.kill()
	d.pre("t1", "Bash", obj{})
	d.kill()
	d.post("t1", "Bash", obj{}, "x")
	d.stop("done")
	d.wait(time.Minute)
	if r := d.one(); !r.finish.Lossy || len(r.calls) != 1 {
		t.Errorf("%+v", r.finish)
	}
}

func TestJournalHoldsNoSecretAndNobodyElseReadsIt(t *testing.T) {
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	d := newDesk(t)
	d.book.Register(client.Register{ProxyID: "prx_fake", ServerName: "fake", Server: recorder.Server{Command: []string{"x", "--token", secret}, URL: "https://u:" + secret + "@h/?k=" + secret}})
	d.ask("use " + secret)
	d.pre("t1", "mcp__fake__echo", obj{"token": secret})
	d.wire("fake", "echo", "t1", func(r *client.StepReport) { r.Args, r.Error = json.RawMessage(`{"a":"`+secret+`"}`), secret })
	d.post("t1", "mcp__fake__echo", obj{"token": secret}, secret)
	d.pre("t2", "Bash", obj{})
	d.hook("PostToolUseFailure", obj{"tool_use_id": "t2", "tool_name": "Bash", "error": secret})
	d.hook("PostToolBatch", obj{"tool_calls": []obj{{"tool_use_id": "t3", "tool_name": "Bash", "tool_input": obj{"a": secret}, "tool_response": "<tool_use_error>" + secret}}})
	d.hook("Stop", obj{"last_assistant_message": secret, "background_tasks": []obj{{"id": "x", "status": "running"}}})
	text, err := os.ReadFile(d.cfg.Journal)
	if err != nil || len(text) == 0 {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte(secret)) {
		t.Errorf("the journal holds a secret:\n%s", text)
	}
	info, err := os.Stat(d.cfg.Journal)
	if err != nil || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestJournalIsEmptyWhenNothingIsOpen(t *testing.T) {
	d := newDesk(t)
	d.ask("go")
	d.pre("t1", "Bash", obj{})
	d.post("t1", "Bash", obj{}, "x")
	if err := d.book.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.kill() // what was sent is not sent again
	if told := len(d.kept.all()); told != 1 {
		t.Errorf("%d runs", told)
	}
	d.stop("done")
	d.wait(time.Minute)
	if err := d.book.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.cfg.Journal)
	if err != nil || info.Size() != 0 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	d.kill()
	if !d.book.Idle(d.clock.Now()) {
		t.Error("not idle with nothing open")
	}
}

func TestNothingIsForgottenThatTheRecorderMayHaveLost(t *testing.T) {
	d := newDesk(t)
	d.kept.flushErr = errors.New("down")
	d.ask("go")
	d.stop("done")
	d.wait(time.Minute)
	if err := d.book.save(t.Context()); err == nil {
		t.Fatal("the recorder was not waited for")
	}
	d.kept.runs, d.kept.order = map[string]*keptRun{}, nil // it is killed as well
	d.kill()
	d.one()
}

// A long run's journal is made shorter while it goes on, and what comes meanwhile is
// kept.
func TestLongJournalIsMadeShorter(t *testing.T) {
	d := newDesk(t)
	between := &flushing{kept: d.kept}
	d.cfg.Recorder = between
	d.kill()
	d.ask("go")
	big := strings.Repeat("x", 60_000)
	play := func(n int) {
		id := fmt.Sprint("t", n)
		d.pre(id, "Bash", obj{"command": "ls"})
		d.post(id, "Bash", obj{"command": "ls"}, obj{"stdout": big})
	}
	for n := range 150 {
		play(n)
	}
	before := d.book.journal.Size()
	between.during = func() { play(150) }
	if err := d.book.save(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.cfg.Journal)
	if err != nil || info.Size() != d.book.journal.Size() || info.Size() > before/2 {
		t.Errorf("%d bytes of %d, %v", info.Size(), before, err)
	}
	d.kill()
	play(151)
	d.kill()
	d.stop("done")
	d.wait(time.Minute)
	r := d.one()
	if steps := r.steps(t); len(steps) != 152 || r.finish.Lossy {
		t.Errorf("%d steps", len(steps))
	}
}

// flushing does something while it is flushed.
type flushing struct {
	*kept
	during func()
}

func (f *flushing) Flush(context.Context) error {
	if f.during != nil {
		f.during()
	}
	return nil
}

func TestJournalThatCannotBeWrittenStopsNothing(t *testing.T) {
	d := newDesk(t)
	if err := d.book.journal.Close(); err != nil {
		t.Fatal(err)
	}
	d.ask("go")
	d.pre("t1", "Bash", obj{})
	d.post("t1", "Bash", obj{}, "x")
	d.stop("done")
	d.wait(time.Minute)
	if r := d.one(); len(r.calls) != 1 {
		t.Errorf("%d calls", len(r.calls))
	}
}
