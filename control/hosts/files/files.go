// Package files reads and replaces files that belong to another program: symbolic
// links are followed, the mode is kept, a reader sees the old text or the new, and a
// file that its owner rewrote meanwhile is left alone. It knows no format.
package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrChanged says that somebody else wrote the file since it was read.
var ErrChanged = errors.New("was rewritten by another program meanwhile")

// Private is the mode of a file that nobody else reads.
const Private fs.FileMode = 0o600

const (
	dirMode = 0o755
	newMode = Private
	// maxBytes is far more than a configuration has.
	maxBytes = 256 << 20
)

// File is a file as it was read.
type File struct {
	Path   string // as it was asked for
	Text   []byte
	Exists bool
	Mode   fs.FileMode
	real   string // without symbolic links
}

// Read reads a file that may not exist.
func Read(path string) (File, error) {
	f := File{Path: path, real: path, Mode: newMode}
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if f.real, err = filepath.EvalSymlinks(path); err != nil {
		return f, fmt.Errorf("follow %s: %w", path, err)
	}
	info, err := os.Stat(f.real)
	if err != nil {
		return f, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxBytes {
		return f, fmt.Errorf("%s is no configuration file", path)
	}
	f.Mode, f.Exists = info.Mode().Perm(), true
	f.Text, err = os.ReadFile(f.real)
	return f, err
}

// Write replaces the text, with the mode that File has by now, unless the file is not as it was read.
func (f File) Write(text []byte) error {
	dir := filepath.Dir(f.real)
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	next, err := os.CreateTemp(dir, f.temp()+"*")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // which is gone once it is renamed
	_, err = next.Write(text)
	err = errors.Join(err, next.Chmod(f.Mode), next.Sync(), next.Close())
	if err != nil {
		return err
	}
	if err := f.unchanged(); err != nil {
		return err
	}
	return os.Rename(next.Name(), f.real)
}

// temp is how the names of what is to take the file's place start.
func (f File) temp() string { return "." + filepath.Base(f.real) + ".bir-" }

// Sweep removes what a write left that was killed. Nobody else may be writing.
func (f File) Sweep() {
	dir := filepath.Dir(f.real)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // then there is nothing to sweep
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), f.temp()) && e.Type().IsRegular() {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Remove removes the file, unless it is not as it was read.
func (f File) Remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	return os.Remove(f.real)
}

func (f File) unchanged() error {
	now, err := Read(f.Path)
	if err != nil {
		return err
	}
	if now.Exists != f.Exists || !bytes.Equal(now.Text, f.Text) {
		return fmt.Errorf("%s %w", f.Path, ErrChanged)
	}
	return nil
}

// Hash names a text.
func Hash(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
