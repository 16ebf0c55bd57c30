// Package journal keeps, in BIR_HOME/installed.json, what bir changed in files of
// other programs and what takes it back. It is written before a file is, so that an
// interrupted change is known. It must never hold a credential.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"

	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/patch"
	"github.com/bir-run/bir/control/hosts/shape"
)

// Journal is the whole file.
type Journal struct {
	Version  int                 `json:"version"`
	Projects map[string]*Project `json:"projects"` // by root
}

// Project is what was installed for one root.
type Project struct {
	InstalledAt int64   `json:"installedAt"` // milliseconds since 1970
	Version     string  `json:"bir"`
	Hooks       string  `json:"hooks,omitempty"` // command or http
	Files       []*File `json:"files"`
}

// File is a file that was changed.
type File struct {
	Path    string       `json:"path"`
	Host    string       `json:"host"`
	Format  string       `json:"format"`
	Shape   *shape.Shape `json:"shape,omitempty"`
	Shared  bool         `json:"shared,omitempty"` // the client takes a lock before it writes
	Created bool         `json:"created,omitempty"`
	MadeDir bool         `json:"madeDir,omitempty"` // the folder of the file, too
	Mode    fs.FileMode  `json:"mode,omitempty"`    // that it had, where it was changed
	// Before and After name the text before the first change and after the last one.
	// Undo takes the one back to the other, newest first. It is empty where somebody
	// else wrote between our changes: then each change is taken back by itself.
	Before  string        `json:"before,omitempty"`
	After   string        `json:"after,omitempty"`
	Undo    []patch.Patch `json:"undo,omitempty"`
	Changes []Change      `json:"changes"`
	// Intent is a change that was about to be written.
	Intent *Intent `json:"intent,omitempty"`
}

// Intent is what a file was about to become.
type Intent struct {
	From    string        `json:"from"` // names the text that was there; empty: no file
	After   string        `json:"after"`
	Undo    []patch.Patch `json:"undo"`
	Changes []Change      `json:"changes"`
}

// Kinds of changes.
const (
	Wrap = "wrap" // an entry was changed in place
	Put  = "put"  // a value was set
	Add  = "add"  // an element was appended to an array
)

// Change is one place that was changed.
type Change struct {
	Kind   string    `json:"kind"`
	Path   []string  `json:"path"`
	Server string    `json:"server,omitempty"`
	Was    shape.Was `json:"was,omitzero"`
	// Value is what was written, where it is no server's: those have credentials. Sum
	// names one that is a secret.
	Value json.RawMessage `json:"value,omitempty"`
	Sum   string          `json:"sum,omitempty"`
	Old   json.RawMessage `json:"old,omitempty"`  // what was there before it
	Made  int             `json:"made,omitempty"` // objects made above it
}

const version = 1

// Path is the journal's file.
func Path(home string) string { return filepath.Join(home, "installed.json") }

// Lock waits until no other command installs or uninstalls.
func Lock(home string) (unlock func(), err error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(Path(home)+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("lock the journal: %w", err)
	}
	return func() { _ = lock.Unlock() }, nil
}

// Read reads the journal. One that cannot be read is an error: without it nothing
// could be taken back.
func Read(home string) (*Journal, error) {
	j := &Journal{Version: version, Projects: map[string]*Project{}}
	text, err := os.ReadFile(Path(home))
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("read %s: %w", Path(home), err)
	}
	if j.Version != version {
		return nil, fmt.Errorf("%s is of version %d, which this bir does not know", Path(home), j.Version)
	}
	return j, nil
}

// Save writes the journal.
func (j *Journal) Save(home string) error {
	f, err := files.Read(Path(home))
	if err != nil {
		return err
	}
	if len(j.Projects) == 0 && !f.Exists {
		return nil
	}
	text, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	return f.Write(append(text, '\n'))
}

// Project is the one of a root, made where it is missing.
func (j *Journal) Project(root string) *Project {
	if j.Projects[root] == nil {
		j.Projects[root] = &Project{}
	}
	return j.Projects[root]
}

// File is the one of a path, made where it is missing.
func (p *Project) File(path string) *File {
	if i := slices.IndexFunc(p.Files, func(f *File) bool { return f.Path == path }); i >= 0 {
		return p.Files[i]
	}
	f := &File{Path: path}
	p.Files = append(p.Files, f)
	return f
}

// Forget drops the files in which nothing of ours is left, and projects without any.
func (j *Journal) Forget() {
	for root, p := range j.Projects {
		p.Files = slices.DeleteFunc(p.Files, func(f *File) bool { return len(f.Changes) == 0 && f.Intent == nil })
		if len(p.Files) == 0 {
			delete(j.Projects, root)
		}
	}
}

// Settle makes of an intent what came of it, by the text that is there now.
func (f *File) Settle(now files.File) {
	if f.Intent == nil {
		return
	}
	in := f.Intent
	f.Intent = nil
	from := ""
	if now.Exists {
		from = files.Hash(now.Text)
	}
	switch from {
	case in.From: // never written
	case in.After:
		f.take(in)
	default: // written by somebody else since, before us or after: look for each change
		f.take(in)
		f.Undo = nil
	}
}

// take makes an intent the state.
func (f *File) take(in *Intent) {
	if len(f.Changes) == 0 {
		f.Before, f.Created = in.From, in.From == ""
		f.Undo = in.Undo
	} else if f.After == in.From && len(f.Undo) > 0 {
		f.Undo = append(slices.Clone(f.Undo), in.Undo...)
	} else {
		f.Undo = nil
	}
	f.After = in.After
	f.Changes = append(f.Changes, in.Changes...)
}

// Done makes the intent the state: it was written.
func (f *File) Done() {
	f.take(f.Intent)
	f.Intent = nil
}
