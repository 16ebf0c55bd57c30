package spool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gofrs/flock"
)

// Send takes one record of a run. A nil record stands for one that was damaged on
// disk. An error stops the drain, and the record comes again next time.
type Send func(ctx context.Context, run string, record []byte) error

// Drain hands every record to send, run by run and in order, and removes a run's
// file once its last record was taken. A process that ends in between leaves the
// rest, and may leave records that were sent already: sending twice must be
// harmless. It returns ErrBusy at once while another process drains.
func (s *Spool) Drain(ctx context.Context, send Send) error {
	runs, err := s.Runs()
	if err != nil || len(runs) == 0 {
		return err
	}
	lock := flock.New(filepath.Join(s.dir, "drain.lock"), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return fmt.Errorf("lock spool: %w", err)
	}
	if !locked {
		return ErrBusy
	}
	defer lock.Unlock()
	for len(runs) > 0 {
		for _, run := range runs {
			if err := s.drainRun(ctx, run, send); err != nil {
				return err
			}
		}
		if runs, err = s.Runs(); err != nil { // what came meanwhile
			return err
		}
	}
	return nil
}

func (s *Spool) drainRun(ctx context.Context, run string, send Send) error {
	f, err := os.Open(s.path(run, logExt))
	if errors.Is(err, os.ErrNotExist) {
		return nil // drained by another process before we had the lock
	}
	if err != nil {
		return fmt.Errorf("open spool file: %w", err)
	}
	defer f.Close()
	offset := s.position(run)
	for {
		sent, seen, err := sendFrom(ctx, f, offset, run, send)
		if err != nil {
			if sent > offset {
				s.savePosition(run, sent)
			}
			return err
		}
		offset = sent
		done, err := s.removeAt(run, f, seen)
		if done || err != nil {
			return err
		}
	}
}

// sendFrom sends the whole lines from offset on. It returns the end of the last
// one that was taken, and how far it has seen the file.
func sendFrom(ctx context.Context, f *os.File, offset int64, run string, send Send) (sent, seen int64, err error) {
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return offset, 0, fmt.Errorf("read spool file: %w", err)
	}
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return offset, offset + int64(len(line)), nil
		}
		if err != nil {
			return offset, 0, fmt.Errorf("read spool file: %w", err)
		}
		if err := ctx.Err(); err != nil {
			return offset, 0, err
		}
		if err := send(ctx, run, decode(line)); err != nil {
			return offset, 0, err
		}
		offset += int64(len(line))
	}
}

// removeAt removes the file if it ends where it was seen to end. Nobody writes
// while we look, so a last line without its end is that of a killed writer.
func (s *Spool) removeAt(run string, f *os.File, seen int64) (bool, error) {
	unlock, err := s.lockAppend()
	if err != nil {
		return false, err
	}
	defer unlock()
	info, err := f.Stat()
	if err != nil {
		return false, fmt.Errorf("size spool file: %w", err)
	}
	if info.Size() != seen {
		return false, nil
	}
	f.Close() // Windows removes no open file; the second Close is harmless
	// The note goes first: one that outlived its file would skip records of the next.
	for _, ext := range []string{positionExt, logExt} {
		if err := os.Remove(s.path(run, ext)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return false, fmt.Errorf("remove spool file: %w", err)
		}
	}
	return true, nil
}

// position is where the last drain of the run stopped. Without a readable note it
// is the beginning, which only sends some records again.
func (s *Spool) position(run string) int64 {
	text, err := os.ReadFile(s.path(run, positionExt))
	if err != nil {
		return 0
	}
	offset, err := strconv.ParseInt(string(text), 10, 64)
	info, statErr := os.Stat(s.path(run, logExt))
	if err != nil || statErr != nil || offset < 0 || offset > info.Size() {
		return 0
	}
	return offset
}

func (s *Spool) savePosition(run string, offset int64) {
	// Losing the note costs a second send, no more.
	_ = os.WriteFile(s.path(run, positionExt), []byte(strconv.FormatInt(offset, 10)), 0o600)
}
