// Package off is the switch that takes bir out of the way: for this user, or for
// one folder and what is below it. Proxies and hooks look at it; nothing else turns
// recording off. It fails to on: a switch that cannot be read was not thrown.
package off

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/bir-run/bir/recorder/atomicfile"
)

// State is what the switch file says.
type State struct {
	Everywhere bool     `json:"everywhere"`
	Folders    []string `json:"folders,omitempty"` // absolute, clean
}

// Off says whether bir is off in a folder.
func (s State) Off(dir string) bool {
	return s.Everywhere || slices.ContainsFunc(s.Folders, func(folder string) bool { return within(dir, folder) })
}

func within(dir, folder string) bool {
	rel, err := filepath.Rel(folder, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Path is where the switch file of a home is.
func Path(home string) string { return filepath.Join(home, "off.json") }

// Read reads the switch. A missing file is a switch that was never thrown.
func Read(home string) (State, error) {
	var s State
	text, err := os.ReadFile(Path(home))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return State{}, fmt.Errorf("read %s: %w", Path(home), err)
	}
	return s, nil
}

// Set throws the switch for a folder, or everywhere with an empty one. On
// everywhere also forgets the folders: whoever says on means it.
func Set(home, dir string, turnedOff bool) (State, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return State{}, err
	}
	lock := flock.New(Path(home)+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return State{}, fmt.Errorf("lock the switch: %w", err)
	}
	defer lock.Unlock()
	s, err := Read(home)
	if err != nil {
		return s, err
	}
	s = s.with(dir, turnedOff)
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return s, err
	}
	return s, atomicfile.Write(Path(home), append(text, '\n'))
}

func (s State) with(dir string, turnedOff bool) State {
	switch {
	case dir == "" && turnedOff:
		s.Everywhere = true
	case dir == "":
		return State{}
	default:
		dir = filepath.Clean(dir)
		s.Folders = slices.DeleteFunc(slices.Clone(s.Folders), func(f string) bool { return f == dir })
		if turnedOff {
			s.Folders = append(s.Folders, dir)
		}
	}
	return s
}

// Watch answers whether bir is off in a folder, and looks at the file again when
// its last look is older than a moment. It is for one goroutine.
type Watch struct {
	Home, Dir string
	Every     time.Duration // between two looks; zero: 500 ms

	looked time.Time
	off    bool
}

const defaultEvery = 500 * time.Millisecond

// Off says whether bir is off as of a moment ago.
func (w *Watch) Off(now time.Time) bool {
	every := w.Every
	if every == 0 {
		every = defaultEvery
	}
	if now.Sub(w.looked) < every {
		return w.off
	}
	w.looked = now
	s, err := Read(w.Home)
	w.off = err == nil && s.Off(w.Dir)
	return w.off
}
