// Package discover is what a control server leaves for others to find it by: the
// discovery file, the sockets, the lock that it holds for its life, and the mark of
// one that its user stopped. Those who only look use package locate. It never starts
// or stops a control server.
package discover

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/recorder/atomicfile"
)

// File is the discovery file as its writer sees it.
type File struct {
	locate.File
	// FingerprintKey keys what the journal tells calls apart by. It is here and not
	// beside the journal, so that nobody can try arguments against a fingerprint; and
	// it outlives the process, so that the next one still knows the calls under way.
	FingerprintKey string `json:"fingerprintKey"`
}

// Lock is held by the control server of a root for its whole life. The system drops it
// when the process dies, so nothing is ever left over.
func Lock(home, root string) *flock.Flock { return lock(home, root, ".lock") }

// StartLock is held by whoever starts the control server of a root, so that many who
// need one at once start one.
func StartLock(home, root string) *flock.Flock { return lock(home, root, ".start.lock") }

func lock(home, root, suffix string) *flock.Flock {
	return flock.New(locate.Beside(home, root, suffix), flock.SetPermissions(0o600))
}

// Journal is where the book of a root keeps what it would need after a crash.
func Journal(home, root string) string { return locate.Beside(home, root, ".journal") }

// LogPath is where the control server of a root says what it does.
func LogPath(home, root string) string {
	return filepath.Join(home, "logs", "control-"+locate.Key(root)+".log")
}

// MakeDir makes the folder of the files, for its owner only: whoever can look into it
// can see which projects there are.
func MakeDir(home string) error {
	if err := os.MkdirAll(locate.Dir(home), 0o700); err != nil {
		return err
	}
	return os.Chmod(locate.Dir(home), 0o700) // also where an older umask made it
}

// Read reads the discovery file of a root as locate.Read does, with what only its
// writer needs.
func Read(home, root string) (File, error) {
	checked, err := locate.Read(home, root)
	if err != nil {
		return File{}, err
	}
	text, err := os.ReadFile(locate.Path(home, root))
	if err != nil {
		return File{}, err
	}
	var file File
	if json.Unmarshal(text, &file) != nil || file.File != checked {
		return File{}, locate.ErrBad // or replaced between the two looks: then not ours to use
	}
	return file, nil
}

// Roots lists the projects that have a discovery file.
func Roots(home string) ([]string, error) {
	entries, err := os.ReadDir(locate.Dir(home))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var roots []string
	for _, entry := range entries {
		var file File
		text, err := os.ReadFile(filepath.Join(locate.Dir(home), entry.Name()))
		if filepath.Ext(entry.Name()) != ".json" || err != nil || json.Unmarshal(text, &file) != nil {
			continue
		}
		if locate.Key(file.Root)+".json" == entry.Name() { // or it is not what it says
			roots = append(roots, file.Root)
		}
	}
	return roots, nil
}

// Write puts the file in place, at once and for its owner's eyes only.
func Write(home string, file File) error {
	text, err := json.Marshal(file)
	if err != nil {
		return fmt.Errorf("write discovery file: %w", err)
	}
	if err := atomicfile.Write(locate.Path(home, file.Root), append(text, '\n')); err != nil {
		return fmt.Errorf("write discovery file: %w", err)
	}
	return nil
}

// Remove removes the file of the control server with this process id. Another one's
// stays: it started after us.
func Remove(home, root string, pid int) error {
	file, err := locate.Read(home, root)
	if errors.Is(err, os.ErrNotExist) || err == nil && file.PID != pid {
		return nil
	}
	if err != nil && !errors.Is(err, locate.ErrBad) {
		return fmt.Errorf("remove discovery file: %w", err)
	}
	if err := os.Remove(locate.Path(home, root)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove discovery file: %w", err)
	}
	return nil
}

// SetStopped notes that the user stopped the control server of a root, or takes the
// note back.
func SetStopped(home, root string, stopped bool) error {
	path := locate.StoppedPath(home, root)
	if stopped {
		return os.WriteFile(path, nil, 0o600)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
