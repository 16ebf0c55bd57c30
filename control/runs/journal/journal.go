// Package journal is the file that brings the open runs of a book back after a crash:
// every event that changed something since the last time that nothing was open, one a
// line. It decides nothing: what an event changes is package machine's, and when the
// file is made shorter is the book's. An entry is written with one write, without a
// sync: a process that is killed loses nothing that was written.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/bir-run/bir/control/runs/machine"
)

// Journal is an open journal. It is for one goroutine at a time.
type Journal struct {
	path string
	f    *os.File
	size int64
	base int64
}

// Entry is one line: a snapshot of the state, an event, or the news that all that was
// to be reported up to an event has been.
type Entry struct {
	State *machine.State `json:"state,omitempty"`
	Event *machine.Event `json:"event,omitempty"`
	Sent  int            `json:"sent,omitempty"` // events since the snapshot
}

// Recovered is what a journal brought back.
type Recovered struct {
	State  *machine.State
	Events int              // since the snapshot
	Unsent []machine.Change // what may not have been reported
	Begun  []machine.Change // beginnings that have been, of runs with something to come
	Torn   bool             // something at the end could not be read
}

// Open opens the journal, made where there is none, and reads it.
func Open(path string) (*Journal, Recovered, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, Recovered{}, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, Recovered{}, err
	}
	entries, good, err := readEntries(f)
	if err != nil {
		return nil, Recovered{}, errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
	}
	r := replay(entries)
	size, err := f.Seek(0, io.SeekEnd)
	r.Torn = size > good
	if r.Torn && err == nil {
		err = f.Truncate(good) // else the next line would be torn, too
	}
	if err != nil {
		return nil, Recovered{}, errors.Join(err, f.Close())
	}
	return &Journal{path: path, f: f, size: good}, r, nil
}

// readEntries reads lines up to the first that is none. good is where that begins.
func readEntries(f io.Reader) (entries []Entry, good int64, err error) {
	in := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return entries, good, nil
		}
		if err != nil {
			return nil, 0, err
		}
		var e Entry
		if json.Unmarshal(line, &e) != nil {
			return entries, good, nil
		}
		entries = append(entries, e)
		good += int64(len(line))
	}
}

// replay makes the state again. What had been reported is not reported again.
func replay(entries []Entry) Recovered {
	r := Recovered{State: machine.New()}
	sent := 0
	for _, e := range entries {
		sent = max(sent, e.Sent)
	}
	for _, e := range entries {
		switch {
		case e.State != nil:
			r.State = e.State
			r.State.Restore()
			r.Begun = r.State.Begun()
		case e.Event != nil:
			changes := r.State.Apply(*e.Event)
			if r.Events++; r.Events > sent {
				r.Unsent = append(r.Unsent, changes...)
				continue
			}
			for _, c := range changes {
				if c.Start != nil {
					r.Begun = append(r.Begun, c)
				}
			}
		}
	}
	r.Begun = slices.DeleteFunc(r.Begun, func(c machine.Change) bool {
		return r.State.Runs[c.Run] == nil && !slices.ContainsFunc(r.Unsent, func(u machine.Change) bool { return u.Run == c.Run })
	})
	return r
}

// Write appends one line.
func (j *Journal) Write(e Entry) error {
	line, err := e.Encode()
	if err != nil {
		return err
	}
	n, err := j.f.Write(line)
	if err != nil && n > 0 {
		// Half a line would make the rest of the journal unreadable.
		err = errors.Join(err, j.f.Truncate(j.size))
		n = 0
	}
	j.size += int64(n)
	return err
}

// Restart begins the journal anew with a snapshot, and keeps what was written after
// it was taken, from the place tail on. An empty snapshot leaves nothing.
func (j *Journal) Restart(snapshot []byte, tail int64) error {
	if len(snapshot) == 0 && tail == j.size {
		if err := j.f.Truncate(0); err != nil {
			return err
		}
		j.size, j.base = 0, 0
		return nil
	}
	rest := make([]byte, j.size-tail)
	if _, err := j.f.ReadAt(rest, tail); err != nil {
		return err
	}
	next := j.path + ".next"
	if err := os.WriteFile(next, append(snapshot, rest...), 0o600); err != nil {
		return errors.Join(err, os.Remove(next))
	}
	return j.swap(next, int64(len(snapshot)+len(rest)))
}

// swap puts a new file in the place of the journal. It closes the old one first, which
// some systems ask for.
func (j *Journal) swap(next string, size int64) error {
	err := errors.Join(j.f.Close(), os.Rename(next, j.path))
	if err == nil {
		j.size, j.base = size, size
	}
	f, openErr := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	j.f = f
	return err
}

// Encode makes the line of an Entry. Payloads keep their spelling.
func (e Entry) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

// Size is how long the journal is.
func (j *Journal) Size() int64 { return j.size }

// Base is how long it was right after it was made shorter last.
func (j *Journal) Base() int64 { return j.base }

// Close closes the file.
func (j *Journal) Close() error { return j.f.Close() }
