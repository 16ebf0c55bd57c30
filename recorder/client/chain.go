package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/bir-run/bir/recorder/spool"
)

// busyPause is how long to leave the spool to another process that drains it.
const busyPause = time.Second

// errYield stops a drain for reports that came meanwhile.
var errYield = errors.New("reports are waiting")

// errNoSpool is why a record could not be kept without a SpoolDir.
var errNoSpool = errors.New("there is no spool")

// chain is the worker's state: every open run, and what goes where. Only the
// worker touches it.
type chain struct {
	delivery
	link    *link
	spool   *spool.Spool // nil without a folder
	limit   int
	waiting func() bool // whether reports wait

	large   allowance
	steps   *buffer // the rows of what was taken last; essential records have none
	runs    map[string]*runState
	used    bool      // a report came
	pending bool      // something is spooled or owed
	drainAt time.Time // not before
}

// runState is one run that is open, or not yet out of our hands.
type runState struct {
	next     int      // index of its next row
	owed     []record // essential records that were neither sent nor spooled
	finished bool
}

func newChain(cfg RecorderConfig, waiting func() bool) *chain {
	c := &chain{link: newLink(cfg), limit: cfg.MaxPayloadBytes, waiting: waiting, steps: &buffer{}, runs: map[string]*runState{}}
	c.delivery = delivery{send: c.link.send, lossy: map[string]bool{}, log: cfg.Logger}
	if cfg.SpoolDir != "" {
		c.spool = spool.New(spool.Config{Dir: cfg.SpoolDir, MaxBytes: cfg.SpoolMaxBytes})
		c.pending = true // what dead processes left, if any
	}
	return c
}

// accept takes reports. Those of one run keep their order and go out as one batch, up
// to about what one request takes.
func (c *chain) accept(ctx context.Context, reports []report) {
	byRun(reports)
	var batch []record
	flush := func() {
		if len(batch) > 0 {
			c.pass(ctx, batch)
		}
		if !c.steps.free() {
			batch, c.steps = nil, &buffer{}
		}
		batch, c.steps.bytes = batch[:0], c.steps.bytes[:0]
	}
	for i, r := range reports {
		reports[i] = report{} // its payloads are free once they are in the batch
		if len(batch) > 0 && (batch[0].Run != r.run || len(batch) >= maxRows || len(c.steps.bytes) >= maxRowBytes) {
			flush()
		}
		if r.flushed != nil {
			close(r.flushed)
			continue
		}
		batch = append(batch, c.prepare(ctx, r)...)
	}
	flush()
}

// byRun brings the reports of a run together: a request for each turn of two runs that
// go on at once would cost ten times as much. What was reported before a flush stays
// before it.
func byRun(reports []report) {
	for len(reports) > 0 {
		end := slices.IndexFunc(reports, func(r report) bool { return r.flushed != nil })
		if end < 0 {
			end = len(reports)
		}
		first := map[string]int{}
		for i, r := range reports[:end] {
			if _, known := first[r.run]; !known {
				first[r.run] = i
			}
		}
		if len(first) > 1 {
			slices.SortStableFunc(reports[:end], func(x, y report) int { return first[x.run] - first[y.run] })
		}
		reports = reports[min(end+1, len(reports)):]
	}
}

// prepare makes the records of a report.
func (c *chain) prepare(ctx context.Context, r report) []record {
	c.used = true
	st := c.runs[r.run]
	if st == nil && r.start != nil {
		st = &runState{next: r.start.StepCount}
		c.runs[r.run] = st
	}
	if st == nil || st.finished && r.start == nil {
		c.log.LogAttrs(ctx, slog.LevelDebug, "a report for a run that is not open is dropped", slog.String("run", r.run))
		return nil
	}
	if r.missed {
		c.lose(ctx, r.run, "calls came faster than they could be recorded; the oldest are dropped", nil)
	}
	made, err := c.records(r, st)
	if err != nil {
		c.lose(ctx, r.run, "a report is dropped", err)
		return nil
	}
	if r.call != nil && r.call.Done != nil {
		r.call.Done() // what is kept of it was copied
	}
	st.finished = r.finish != nil
	return made
}

// pass sends records of one run, or keeps what cannot be sent. While some of the
// run wait in the spool, all that come after them go there too.
func (c *chain) pass(ctx context.Context, batch []record) {
	run := batch[0].Run
	st := c.runs[run]
	batch = append(st.owed, batch...)
	st.owed = nil
	if !c.spooled(run) {
		for len(batch) > 0 && c.link.ready() {
			made, err := c.deliver(ctx, batch)
			if batch = batch[made:]; err != nil {
				break
			}
		}
	}
	if len(batch) > 0 {
		c.keep(ctx, st, batch)
	}
	if st.finished && len(st.owed) == 0 {
		delete(c.runs, run)
	}
}

func (c *chain) spooled(run string) bool { return c.spool != nil && c.spool.Has(run) }

// keep spools records. When they do not fit, the steps are lost and the rest is
// tried again: without a start and an end, what did get through has no run.
func (c *chain) keep(ctx context.Context, st *runState, batch []record) {
	c.pending = true
	run := batch[0].Run
	err := c.write(run, batch, false)
	if err == nil {
		return
	}
	var essential []record
	for _, r := range batch {
		if r.essential() {
			essential = append(essential, r)
		}
	}
	if len(essential) < len(batch) {
		c.lose(ctx, run, "recordings are lost", err)
	}
	if len(essential) > 0 && c.write(run, essential, true) != nil {
		st.owed = essential
	}
}

func (c *chain) write(run string, batch []record, essential bool) error {
	if c.spool == nil {
		return errNoSpool
	}
	lines := make([][]byte, 0, len(batch))
	for _, r := range batch {
		if r.Finish != nil && c.lossy[run] {
			end := *r.Finish // another process may be the one that sends it
			end.Lossy = true
			r.Finish = &end
		}
		line, err := r.line()
		if err != nil {
			return fmt.Errorf("encode recording: %w", err)
		}
		lines = append(lines, line)
	}
	return c.spool.Append(run, lines, essential)
}

// pause is how long to wait before retry, false when nothing waits.
func (c *chain) pause() (time.Duration, bool) {
	if !c.pending {
		return 0, false
	}
	at := c.drainAt
	if c.link.until.After(at) {
		at = c.link.until
	}
	return max(0, time.Until(at)), true
}

// retry sends what waits, once the service and the spool can be asked again. It
// stops for reports that come.
func (c *chain) retry(ctx context.Context) {
	if !c.pending || !c.link.ready() || ctx.Err() != nil {
		return
	}
	c.pending = !c.drain(ctx)
	for _, st := range c.runs {
		if len(st.owed) > 0 {
			owed := st.owed
			st.owed = nil
			c.pass(ctx, owed) // kept again where it still cannot be sent
		}
	}
}

// end is the last try. A recorder that had nothing to report leaves what others
// left to them: finding the service may mean to start it.
func (c *chain) end(ctx context.Context) {
	if c.used {
		c.retry(ctx)
	}
}

// drain empties the spool and says whether it is empty.
func (c *chain) drain(ctx context.Context) bool {
	if c.spool == nil {
		return true
	}
	err := c.spool.Drain(ctx, func(ctx context.Context, run string, line []byte) error {
		if c.waiting() {
			return errYield
		}
		return c.fromSpool(ctx, run, line)
	})
	switch {
	case err == nil:
		return true
	case errors.Is(err, errYield):
		c.drainAt = time.Time{}
	case errors.Is(err, spool.ErrBusy):
		c.drainAt = time.Now().Add(busyPause)
	case c.link.ready() && ctx.Err() == nil: // the disk is at fault, not the service
		c.log.LogAttrs(ctx, slog.LevelWarn, "spooled recordings cannot be read", slog.Any("error", err))
		c.drainAt = time.Now().Add(c.link.pauses.MaxInterval)
	}
	return false
}

// lost says what Close could neither send nor spool.
func (c *chain) lost() error {
	for run, st := range c.runs {
		if len(st.owed) > 0 {
			return fmt.Errorf("recordings of %s are lost: neither the service nor the spool takes them", run)
		}
	}
	return nil
}
