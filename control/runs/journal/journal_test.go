package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bir-run/bir/control/runs/machine"
)

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// turn is a prompt, a call and the end of both, with nothing left open after the tick.
func turn(id string) []machine.Event {
	e := machine.Event{Session: "s", PromptID: id, NewRun: "run_" + id}
	at := func(kind string, after time.Duration) machine.Event {
		e.Kind, e.At = kind, noon.Add(after)
		return e
	}
	events := []machine.Event{at("UserPromptSubmit", 0)}
	e.ToolUse, e.Tool = "t_"+id, "Read"
	events = append(events, at("PreToolUse", time.Second), at("PostToolUse", 2*time.Second))
	e.ToolUse, e.Tool = "", ""
	return append(events, at("Stop", 3*time.Second))
}

func open(t *testing.T, path string) (*Journal, Recovered) {
	t.Helper()
	j, was, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() }) // closed already by most
	return j, was
}

func write(t *testing.T, j *Journal, events []machine.Event) {
	t.Helper()
	for _, e := range events {
		if err := j.Write(Entry{Event: &e}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatIsWrittenIsRecovered(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a.journal")
	j, was := open(t, path)
	if !was.State.Empty() || was.Events != 0 || was.Torn {
		t.Errorf("an empty journal: %+v", was)
	}
	write(t, j, turn("p1"))
	if info, err := os.Stat(path); err != nil || info.Size() != j.Size() || j.Base() != 0 {
		t.Errorf("%v, %v: %d, %d", info, err, j.Size(), j.Base())
	}
	j.Close()
	_, was = open(t, path)
	if was.Events != 4 || was.State.Runs["run_p1"] == nil || len(was.Begun) != 0 || len(was.Unsent) == 0 {
		t.Errorf("%+v", was)
	}
}

func TestWhatIsReportedForSureIsNotReportedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.journal")
	j, _ := open(t, path)
	write(t, j, turn("p1"))
	if err := j.Write(Entry{Sent: 4}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	_, was := open(t, path)
	if len(was.Unsent) != 0 || len(was.Begun) != 1 || was.Begun[0].Run != "run_p1" {
		t.Errorf("unsent %+v, begun %+v", was.Unsent, was.Begun)
	}
}

func TestATornEndIsCutOffAndSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.journal")
	j, _ := open(t, path)
	events := turn("p1")
	write(t, j, events[:2])
	good := j.Size()
	j.Close()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"event":{"kind":"Stop`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	j, was := open(t, path)
	if !was.Torn || was.Events != 2 || j.Size() != good {
		t.Errorf("torn %v, %d events, %d bytes of %d", was.Torn, was.Events, j.Size(), good)
	}
	write(t, j, events[2:])
	j.Close()
	if _, was := open(t, path); was.Torn || was.Events != 4 {
		t.Errorf("after the cut: torn %v, %d events", was.Torn, was.Events)
	}
}

func TestRestartKeepsWhatCameAfterTheSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.journal")
	j, was := open(t, path)
	events := turn("p1")
	write(t, j, events[:2])
	for _, e := range events[:2] {
		was.State.Apply(e)
	}
	snapshot, err := Entry{State: was.State}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	tail := j.Size()
	write(t, j, events[2:])
	if err := j.Restart(snapshot, tail); err != nil {
		t.Fatal(err)
	}
	if j.Base() != j.Size() || j.Base() <= int64(len(snapshot)) {
		t.Errorf("%d bytes, base %d, snapshot %d", j.Size(), j.Base(), len(snapshot))
	}
	j.Close()
	j, was = open(t, path)
	if was.Events != 2 || was.State.Runs["run_p1"] == nil || was.Torn {
		t.Errorf("%d events, torn %v, runs %v", was.Events, was.Torn, was.State.Runs)
	}
	if err := j.Restart(nil, j.Size()); err != nil || j.Size() != 0 {
		t.Errorf("nothing to keep: %d bytes, %v", j.Size(), err)
	}
}
