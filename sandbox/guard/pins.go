package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gofrs/flock"
)

// pinKey names a module for good: its name, and the folder it is in.
type pinKey struct {
	Name  string `json:"name"`
	Scope string `json:"scope"` // "home", or "project:" and the folder
}

// digests are what is pinned.
type digests struct {
	Module   string `json:"sha256"`
	Settings string `json:"settingsSha256,omitempty"`
}

type pin struct {
	pinKey
	digests
}

type pinList struct {
	Version int   `json:"version"`
	Pins    []pin `json:"guards"`
}

const pinVersion = 1

// pinFile remembers the digest at which each module was first seen, for all
// processes of the user. Without a path it remembers for this process.
type pinFile struct {
	path string

	mu     sync.Mutex // guards memory, and orders this process's writes
	memory pinList
}

func (f *pinFile) find(key pinKey) (*digests, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list, err := f.readLocked()
	if err != nil {
		return nil, err
	}
	for _, p := range list.Pins {
		if p.pinKey == key {
			return &p.digests, nil
		}
	}
	return nil, nil
}

func (f *pinFile) set(key pinKey, d digests) error {
	return f.edit(func(pins []pin) []pin {
		pins = without(pins, key)
		return append(pins, pin{key, d})
	})
}

func (f *pinFile) drop(key pinKey) error {
	return f.edit(func(pins []pin) []pin { return without(pins, key) })
}

func without(pins []pin, key pinKey) []pin {
	return slices.DeleteFunc(pins, func(p pin) bool { return p.pinKey == key })
}

// edit reads, changes and writes under a lock between processes: a pin lost to a
// race would let the next version of that module pass as first seen.
func (f *pinFile) edit(change func([]pin) []pin) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" {
		f.memory.Pins = change(f.memory.Pins)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return err
	}
	lock := flock.New(f.path + ".lock")
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", f.path, err)
	}
	defer lock.Unlock()
	list, err := f.readLocked()
	if err != nil {
		return err
	}
	list.Version, list.Pins = pinVersion, change(list.Pins)
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(f.path, append(data, '\n'))
}

func (f *pinFile) readLocked() (pinList, error) {
	if f.path == "" {
		return f.memory, nil
	}
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return pinList{}, nil
	}
	if err != nil {
		return pinList{}, err
	}
	var list pinList
	if err := json.Unmarshal(data, &list); err != nil {
		return pinList{}, fmt.Errorf("%s: %w; repair it, or remove it to see every guard as new", f.path, err)
	}
	if list.Version != pinVersion {
		return pinList{}, fmt.Errorf("%s has version %d, and this bir knows %d", f.path, list.Version, pinVersion)
	}
	return list, nil
}

// replaceFile writes a file that others read: whole, or not at all.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once renamed, as it should
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
