package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/bir-run/bir/recorder"
)

// The bounds of what waits in the journal. A list that is large goes to the tables at
// once: it would gain nothing.
const (
	maxJournalBytes = 32 << 20
	maxJournalSteps = 16 << 10
	maxQuickBytes   = 512 << 10
)

// pending are steps that were taken and answered, and are not in the tables yet. To
// book one costs three trees and several pages, on the machine of a conversation that
// goes on; to note it costs a write. So a burst of calls is noted, and booked when it
// is over, when there is much of it, or when somebody asks for what is in the tables.
//
//	AddSteps ─► new, and of a run that is there? ── yes ─► journal ── quiet, full, asked for ─► tables
//	                       └── no ─► journal is emptied ─► tables
//
// Whatever is not plainly new takes the long way, so that the tables alone decide what
// comes twice, what belongs to another run, and what is refused.
//
// Why in memory and in a file? The file is what survives the process: what a dead one
// left there is booked by the next, before anything else. There is no second owner:
// the service opens the store once it has its lock.
type pending struct {
	turn    chan struct{} // holds a token while nobody uses what is below
	journal journal
	ids     map[string]struct{} // of the steps in the journal
	runs    map[string]struct{} // that are in the tables for certain
	find    *sql.Stmt           // a step whose id is in a range
	known   *sql.Stmt           // a run

	maxBytes int64
	maxSteps int
	quiet    time.Duration
	timer    *time.Timer
	closed   bool
}

var errClosed = errors.New("the store is closed")

// maxKnownRuns bounds the memory of runs; one that was forgotten is looked up.
const maxKnownRuns = 1 << 10

func newPending(path string) *pending {
	p := &pending{
		turn: make(chan struct{}, 1), journal: journal{path: path},
		maxBytes: maxJournalBytes, maxSteps: maxJournalSteps, quiet: quietTime,
		ids: map[string]struct{}{}, runs: map[string]struct{}{},
	}
	p.turn <- struct{}{}
	return p
}

// prepare readies the lookups, and books what a process that died has left.
func (s *Store) prepare(ctx context.Context) (err error) {
	p := s.pending
	if p.find, err = s.read.PrepareContext(ctx, `SELECT 1 FROM steps WHERE id BETWEEN ? AND ? LIMIT 1`); err != nil {
		return err
	}
	if p.known, err = s.read.PrepareContext(ctx, `SELECT 1 FROM runs WHERE id = ?`); err != nil {
		return err
	}
	p.timer = time.AfterFunc(p.quiet, s.bookQuietly)
	p.timer.Stop() // until the first step
	if err := p.journal.recover(); err != nil {
		return err
	}
	return s.bookLocked(ctx)
}

// take waits for the turn; what it returns gives it back.
func (p *pending) take(ctx context.Context) (release func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-p.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	release = func() { p.turn <- struct{}{} }
	if p.closed {
		release()
		return nil, errClosed
	}
	return release, nil
}

// note puts steps in the journal, and says whether it did. False without an error
// means that the tables have to decide.
func (s *Store) note(ctx context.Context, runID string, steps []recorder.Step) (noted bool, err error) {
	p := s.pending
	size := weigh(steps)
	if size > maxQuickBytes || len(steps) == 0 || len(steps) > p.maxSteps {
		return false, nil
	}
	if p.journal.size+int64(size) > p.maxBytes || len(p.ids)+len(steps) > p.maxSteps {
		if err := s.bookLocked(ctx); err != nil {
			return false, err
		}
	}
	if isNew, err := s.isNew(ctx, runID, steps); !isNew || err != nil {
		return false, err
	}
	if err := p.journal.add(runID, steps); err != nil {
		return false, err
	}
	for i := range steps {
		p.ids[strings.Clone(steps[i].ID)] = struct{}{} // the caller's text may be large, and used again
	}
	p.timer.Reset(p.quiet)
	return true, nil
}

// weigh is about as much as steps take in the journal.
func weigh(steps []recorder.Step) (size int) {
	const rest = 512 // at most, of what is short
	for i := range steps {
		s := &steps[i]
		size += rest + len(s.ToolInput) + len(s.ToolOutput) + len(s.AskedInput) + len(s.ToolError) + len(s.Context) + len(s.Answer)
	}
	return size
}

// isNew says whether the tables would take the steps, and for the first time. It may
// be false although they would.
func (s *Store) isNew(ctx context.Context, runID string, steps []recorder.Step) (bool, error) {
	p := s.pending
	first, last, ascend := steps[0].ID, steps[0].ID, true
	for i := range steps {
		id := steps[i].ID
		if _, waits := p.ids[id]; waits || !isType(steps[i].Type) {
			return false, nil
		}
		ascend = ascend && (i == 0 || id > last)
		first, last = min(first, id), max(last, id)
	}
	if !ascend && repeats(steps) {
		return false, nil
	}
	if _, ok := p.runs[runID]; !ok {
		if found, err := exists(ctx, p.known, runID); !found || err != nil {
			return false, err
		}
		if len(p.runs) >= maxKnownRuns {
			clear(p.runs)
		}
		p.runs[strings.Clone(runID)] = struct{}{}
	}
	found, err := exists(ctx, p.find, first, last)
	return !found, err
}

func repeats(steps []recorder.Step) bool {
	seen := make(map[string]bool, len(steps))
	for i := range steps {
		if seen[steps[i].ID] {
			return true
		}
		seen[steps[i].ID] = true
	}
	return false
}

func isType(t recorder.StepType) bool {
	return t == recorder.StepSelected || t == recorder.StepResponse || t == recorder.StepAnswer
}

func exists(ctx context.Context, query *sql.Stmt, args ...any) (bool, error) {
	var one int
	err := query.QueryRowContext(ctx, args...).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, translate(err)
}

// book moves what waits to the tables.
func (s *Store) book(ctx context.Context) error {
	release, err := s.pending.take(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.bookLocked(ctx)
}

// bookLocked does so for the one whose turn it is. An error leaves everything where it
// is, to be tried again.
func (s *Store) bookLocked(ctx context.Context) error {
	p := s.pending
	if p.journal.size == 0 {
		return nil
	}
	err := s.inTx(ctx, func(tx *sql.Tx) error {
		b := booking{tx: tx, one: tx.StmtContext(ctx, s.insertStep), many: tx.StmtContext(ctx, s.insertMany)}
		_, err := p.journal.each(func(runID string, steps []recorder.Step) error { return b.add(ctx, runID, steps) })
		if err != nil {
			return err
		}
		return b.flush(ctx, 0)
	})
	if err != nil {
		return err
	}
	defer s.checkpoint.later()
	clear(p.ids)
	return p.journal.clear()
}

// bookQuietly is for when nothing comes any more.
func (s *Store) bookQuietly() {
	p := s.pending
	select {
	case <-p.turn:
		defer func() { p.turn <- struct{}{} }()
	default:
		return // whoever has the turn empties the journal, or notes more and winds the timer up
	}
	if !p.closed {
		// An error loses nothing: whoever asks next tries again, and hears of it.
		_ = s.bookLocked(context.Background())
	}
}

// finish books what waits and lets go of the journal. What could not be booked stays
// there for the next to open it.
func (s *Store) finish() error {
	p := s.pending
	<-p.turn
	defer func() { p.turn <- struct{}{} }()
	if p.closed {
		return nil
	}
	p.closed = true
	p.timer.Stop()
	return errors.Join(s.bookLocked(context.Background()), p.journal.close(), p.find.Close(), p.known.Close())
}

// booking writes the lists of a journal in one transaction, steps of one run together.
type booking struct {
	tx        *sql.Tx
	one, many *sql.Stmt
	run       string
	gone      bool // the run is not there: it came from a journal that is not of this database
	steps     []recorder.Step
	values    []any
}

func (b *booking) add(ctx context.Context, runID string, steps []recorder.Step) error {
	if runID != b.run {
		if err := b.flush(ctx, 0); err != nil {
			return err
		}
		var one int
		err := b.tx.QueryRowContext(ctx, `SELECT 1 FROM runs WHERE id = ?`, runID).Scan(&one)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		b.run, b.gone = runID, err != nil
	}
	if b.gone {
		return nil
	}
	b.steps = append(b.steps, steps...)
	return b.flush(ctx, rowsTogether-1)
}

// flush inserts until no more than keep steps are left.
func (b *booking) flush(ctx context.Context, keep int) error {
	done := 0
	for len(b.steps)-done > keep {
		insert, count := b.one, 1
		if len(b.steps)-done >= rowsTogether {
			insert, count = b.many, rowsTogether
		}
		b.values = b.values[:0]
		for i := range b.steps[done : done+count] {
			b.values = appendValues(append(b.values, b.run), &b.steps[done+i])
		}
		// A step that is there was booked before the journal could be emptied.
		if _, err := insert.ExecContext(ctx, b.values...); err != nil {
			return err
		}
		done += count
	}
	rest := copy(b.steps, b.steps[done:])
	clear(b.steps[rest:]) // their texts are free
	b.steps = b.steps[:rest]
	return nil
}
