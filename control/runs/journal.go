package runs

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

// journal keeps every event that changed something since the last time that nothing
// was open, one a line, so that the runs that were open go on after a crash. It is
// written with one write an event, without a sync: a process that is killed loses
// nothing that was written.
type journal struct {
	path string
	f    *os.File
	size int64
	base int64 // size after the last compaction
}

// entry is one line: a snapshot of the state, an event, or the news that all that was
// to be reported up to an event has been.
type entry struct {
	State *machine.State `json:"state,omitempty"`
	Event *machine.Event `json:"event,omitempty"`
	Sent  int            `json:"sent,omitempty"` // events since the snapshot
}

// recovered is what a journal brought back.
type recovered struct {
	state  *machine.State
	events int              // since the snapshot
	unsent []machine.Change // what may not have been reported
	begun  []machine.Change // beginnings that have been, of runs with something to come
	torn   bool             // something at the end could not be read
}

func openJournal(path string) (*journal, recovered, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, recovered{}, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, recovered{}, err
	}
	entries, good, err := readEntries(f)
	if err != nil {
		return nil, recovered{}, errors.Join(fmt.Errorf("read %s: %w", path, err), f.Close())
	}
	r := replay(entries)
	size, err := f.Seek(0, io.SeekEnd)
	r.torn = size > good
	if r.torn && err == nil {
		err = f.Truncate(good) // else the next line would be torn, too
	}
	if err != nil {
		return nil, recovered{}, errors.Join(err, f.Close())
	}
	return &journal{path: path, f: f, size: good}, r, nil
}

// readEntries reads lines up to the first that is none. good is where that begins.
func readEntries(f io.Reader) (entries []entry, good int64, err error) {
	in := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return entries, good, nil
		}
		if err != nil {
			return nil, 0, err
		}
		var e entry
		if json.Unmarshal(line, &e) != nil {
			return entries, good, nil
		}
		entries = append(entries, e)
		good += int64(len(line))
	}
}

// replay makes the state again. What had been reported is not reported again.
func replay(entries []entry) recovered {
	r := recovered{state: machine.New()}
	sent := 0
	for _, e := range entries {
		sent = max(sent, e.Sent)
	}
	for _, e := range entries {
		switch {
		case e.State != nil:
			r.state = e.State
			r.state.Restore()
			r.begun = r.state.Begun()
		case e.Event != nil:
			changes := r.state.Apply(*e.Event)
			if r.events++; r.events > sent {
				r.unsent = append(r.unsent, changes...)
				continue
			}
			for _, c := range changes {
				if c.Start != nil {
					r.begun = append(r.begun, c)
				}
			}
		}
	}
	r.begun = slices.DeleteFunc(r.begun, func(c machine.Change) bool {
		return r.state.Runs[c.Run] == nil && !slices.ContainsFunc(r.unsent, func(u machine.Change) bool { return u.Run == c.Run })
	})
	return r
}

// write appends one line.
func (j *journal) write(e entry) error {
	line, err := e.encode()
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

// restart begins the journal anew with a snapshot, and keeps what was written after
// it was taken, from the place tail on. An empty snapshot leaves nothing.
func (j *journal) restart(snapshot []byte, tail int64) error {
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
func (j *journal) swap(next string, size int64) error {
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

// encode makes the line of an entry. Payloads keep their spelling.
func (e entry) encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

func (j *journal) close() error { return j.f.Close() }
