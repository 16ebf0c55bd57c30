package runs

import (
	"context"
	"testing"
	"time"

	"github.com/bir-run/bir/control/runs/journal"
	"github.com/bir-run/bir/recorder"
)

// process is the recorder of one process: it takes nothing of a run whose beginning it
// has not heard.
type process struct {
	recorder.Recorder
	heard map[string]bool
}

func (p *process) StartRun(r recorder.Run) {
	p.heard[r.ID] = true
	p.Recorder.StartRun(r)
}

func (p *process) RecordCall(id string, c recorder.Call) {
	if p.heard[id] {
		p.Recorder.RecordCall(id, c)
	}
}

func (p *process) FinishRun(id string, end recorder.Finish) {
	if p.heard[id] {
		p.Recorder.FinishRun(id, end)
	}
}

// TestARunThatWasReportedGoesOnInTheNextProcess ends processes in each way after what
// they reported is on its way for sure.
func TestARunThatWasReportedGoesOnInTheNextProcess(t *testing.T) {
	for name, end := range map[string]func(*desk) error{
		"killed": func(d *desk) error { return d.book.journal.Close() },
		"closed": func(d *desk) error { return d.book.Close(context.Background()) },
	} {
		for shortened, most := range map[string]int64{"": maxJournal, ", its journal shortened": 0} {
			t.Run(name+shortened, func(t *testing.T) {
				d := newDesk(t)
				next := func() {
					t.Helper()
					if err := d.book.save(t.Context()); err != nil {
						t.Fatal(err)
					}
					if most == 0 {
						shorten(t, d.book)
					}
					if err := end(d); err != nil {
						t.Fatal(err)
					}
					d.cfg.Recorder = &process{d.kept, map[string]bool{}}
					d.open()
				}
				next()
				d.ask("go")
				for _, id := range []string{"t1", "t2", "t3"} {
					d.pre(id, "Bash", obj{})
					d.post(id, "Bash", obj{}, id)
					d.wait(2 * time.Second)
					next()
				}
				d.stop("done")
				next()
				d.wait(time.Minute)
				next()
				if r := d.one(); len(r.steps(t)) != 3 || r.finish.Lossy || r.finish.Output != "done" {
					t.Errorf("%d calls, end %+v", len(r.calls), r.finish)
				}
			})
		}
	}
}

// shorten puts a snapshot in the place of the journal's events.
func shorten(t *testing.T, b *Book) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state.Empty() {
		return
	}
	shot, err := journal.Entry{State: b.state}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.journal.Restart(shot, b.journal.Size()); err != nil {
		t.Fatal(err)
	}
	b.events = 0
}
