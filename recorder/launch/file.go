package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/bir-run/bir/recorder/atomicfile"
)

// File is service.json: how the embedded service is found.
type File struct {
	URL       string    `json:"url"`
	Token     string    `json:"token"`
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
}

// maxFileBytes bounds what is read: a real file has some hundred bytes.
const maxFileBytes = 64 << 10

var errDamaged = errors.New("service file is damaged")

// Path is where the file of a home is.
func Path(home string) string { return filepath.Join(home, "service.json") }

// Write puts the file in place, at once and for its owner's eyes only.
func Write(home string, f File) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("write service file: %w", err)
	}
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write service file: %w", err)
	}
	if err := atomicfile.Write(Path(home), append(text, '\n')); err != nil {
		return fmt.Errorf("write service file: %w", err)
	}
	return nil
}

// Read reads the file. It refuses one that another user could have written or
// read: its address would get our recordings, or its token is known.
func Read(home string) (File, error) {
	f, err := os.Open(Path(home))
	if err != nil {
		return File{}, fmt.Errorf("read service file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat() // of what was opened, not of what stands there by now
	if err != nil {
		return File{}, fmt.Errorf("read service file: %w", err)
	}
	if err := private(info); err != nil {
		return File{}, fmt.Errorf("refuse service file %s: %w", Path(home), err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes))
	if err != nil {
		return File{}, fmt.Errorf("read service file: %w", err)
	}
	var file File
	if err := json.Unmarshal(text, &file); err != nil {
		return File{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return file, nil
}

// Remove removes the file of the service with this process id. Another one's
// stays: it started after us.
func Remove(home string, pid int) error {
	file, err := Read(home)
	if errors.Is(err, os.ErrNotExist) || err == nil && file.PID != pid {
		return nil
	}
	if err != nil && !errors.Is(err, errDamaged) {
		return err
	}
	if err := os.Remove(Path(home)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove service file: %w", err)
	}
	return nil
}
