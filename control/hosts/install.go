package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/journal"
	"github.com/bir-run/bir/control/hosts/patch"
)

// Installer changes files and remembers how to change them back.
type Installer struct {
	Home    string // BIR_HOME
	Version string
	NowMS   int64
	// Dry changes nothing and tells what would be.
	Dry bool
	// Wrote is called after each file, for tests that interrupt. It may be nil.
	Wrote func(path string) error
}

// Done is what became of one file.
type Done struct {
	File string `json:"file"`
	Host string `json:"host"`
	// Places are the changed ones: paths of keys.
	Places [][]string `json:"places,omitempty"`
	// Exact says that the file has the bytes that it had before bir came.
	Exact   bool `json:"exact,omitempty"`
	Removed bool `json:"removed,omitempty"` // the file: bir had made it
}

// tries is how often a file is read again that a client rewrote between our look and
// our write.
const tries = 5

// Install makes changes for a project, all or none of them as far as they can be known
// before: a form that is not known anywhere stops the writing everywhere.
func (in Installer) Install(root, hooks string, changes []Change) ([]Done, error) {
	unlock, err := journal.Lock(in.Home)
	if err != nil {
		return nil, err
	}
	defer unlock()
	j, err := in.settled()
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if _, err := prepare(c); err != nil {
			return nil, err
		}
	}
	var done []Done
	for _, c := range changes {
		d, err := in.change(j, root, hooks, c)
		if err != nil {
			return done, err
		}
		if len(d.Places) > 0 {
			done = append(done, d)
		}
	}
	return done, nil
}

// settled reads the journal and makes up its mind about what was interrupted.
func (in Installer) settled() (*journal.Journal, error) {
	j, err := journal.Read(in.Home)
	if err != nil {
		return nil, err
	}
	for _, p := range j.Projects {
		for _, f := range p.Files {
			now, err := files.Read(f.Path)
			if err != nil {
				continue // it is as it was, for whoever asks for that file
			}
			if f.Intent != nil && !in.Dry {
				now.Sweep()
			}
			f.Settle(now)
			if f.Before == textHash(now) && f.After != f.Before {
				f.Changes = nil // taken back, and interrupted before that was noted
			}
		}
	}
	j.Forget()
	if in.Dry {
		return j, nil
	}
	return j, j.Save(in.Home)
}

// textHash names what a file has; nothing names a file that is not there.
func textHash(f files.File) string {
	if !f.Exists {
		return ""
	}
	return files.Hash(f.Text)
}

// prepared is a file with what it is to become.
type prepared struct {
	file  files.File
	next  []byte
	undo  []patch.Patch
	steps []journal.Change
	mode  fs.FileMode
}

// prepare makes the changes in memory.
func prepare(c Change) (prepared, error) {
	f, err := files.Read(c.File)
	if err != nil {
		return prepared{}, &Error{c.File, err}
	}
	p := prepared{file: f, next: f.Text, mode: f.Mode}
	if !f.Exists && c.Format != Lines {
		p.next = []byte("{}\n")
	}
	for _, op := range c.Ops {
		s, changed, err := do(c.Format, p.next, c.Shape, op)
		if err != nil {
			return prepared{}, &Error{c.File, fmt.Errorf("%q: %w", last(op.Path), err)}
		}
		if op.Secret {
			p.mode &= files.Private
		}
		if changed {
			p.next = s.text
			p.undo = append(p.undo, s.undo)
			p.steps = append(p.steps, s.change)
		}
	}
	return p, nil
}

func last(path []string) string { return path[len(path)-1] }

// change makes the changes of one file. A client that writes it at the same moment
// comes first: what it wrote is read and changed.
func (in Installer) change(j *journal.Journal, root, hooks string, c Change) (Done, error) {
	if c.Shared && !in.Dry {
		defer files.Lock(c.File)()
	}
	if err := in.outdated(j, root, c); err != nil {
		return Done{}, err
	}
	for range tries {
		p, err := prepare(c)
		if err != nil {
			return Done{}, err
		}
		done := Done{File: c.File, Host: c.Host}
		for _, s := range p.steps {
			done.Places = append(done.Places, s.Path)
		}
		if len(p.steps) == 0 || in.Dry {
			return done, nil
		}
		err = in.write(j, root, hooks, c, p)
		if !errors.Is(err, files.ErrChanged) {
			return done, err
		}
	}
	return Done{}, &Error{c.File, files.ErrChanged}
}

// outdated takes a file's values back that an earlier install put there and this one
// does not: hooks of another kind, of a bir that was moved, of another port.
func (in Installer) outdated(j *journal.Journal, root string, c Change) error {
	project := j.Projects[root]
	if project == nil || in.Dry {
		return nil
	}
	for _, f := range project.Files {
		if f.Path != c.File || !slices.ContainsFunc(f.Changes, func(old journal.Change) bool { return !wanted(old, c.Ops) }) {
			continue
		}
		if _, err := in.takeBack(f); err != nil {
			return &Error{c.File, err}
		}
		f.Changes = nil
	}
	j.Forget()
	return j.Save(in.Home)
}

// wanted says whether a change that was made is among those to make. Those of servers
// always are: which ones to wrap is not all decided anew each time.
func wanted(old journal.Change, ops []Op) bool {
	return old.Server != "" || slices.ContainsFunc(ops, func(op Op) bool {
		return op.Kind == old.Kind && slices.Equal(op.Path, old.Path) &&
			(old.Sum != "" && files.Hash(op.Value) == old.Sum || old.Sum == "" && same(op.Value, old.Value))
	})
}

// write notes what is about to be, writes, and notes that it was.
func (in Installer) write(j *journal.Journal, root, hooks string, c Change, p prepared) error {
	project := j.Project(root)
	project.Version, project.InstalledAt = in.Version, in.NowMS
	if hooks != "" {
		project.Hooks = hooks
	}
	f := project.File(c.File)
	f.Host, f.Format, f.Shared = c.Host, c.Format, c.Shared
	if c.Shape != nil {
		f.Shape = c.Shape
	}
	if p.file.Exists && p.file.Mode != p.mode {
		f.Mode, p.file.Mode = p.file.Mode, p.mode
	}
	if _, err := os.Stat(filepath.Dir(c.File)); errors.Is(err, fs.ErrNotExist) {
		f.MadeDir = true
	}
	f.Intent = &journal.Intent{From: textHash(p.file), After: files.Hash(p.next), Undo: p.undo, Changes: p.steps}
	if err := j.Save(in.Home); err != nil {
		return fmt.Errorf("note the change: %w", err)
	}
	if err := p.file.Write(p.next); err != nil {
		f.Intent = nil
		j.Forget()
		return errors.Join(&Error{c.File, err}, j.Save(in.Home))
	}
	if in.Wrote != nil {
		if err := in.Wrote(c.File); err != nil {
			return err
		}
	}
	f.Done()
	return j.Save(in.Home)
}

// Uninstall takes back what was done for a project; with a file, only in that one.
func (in Installer) Uninstall(root, file string) ([]Done, error) {
	unlock, err := journal.Lock(in.Home)
	if err != nil {
		return nil, err
	}
	defer unlock()
	j, err := in.settled()
	if err != nil {
		return nil, err
	}
	project := j.Projects[root]
	if project == nil {
		return nil, nil
	}
	var done []Done
	var errs []error
	for _, f := range slices.Backward(slices.Clone(project.Files)) {
		if file != "" && f.Path != file {
			continue
		}
		d, err := in.takeBack(f)
		if err != nil {
			errs = append(errs, &Error{f.Path, err}) // the others are taken back all the same
			continue
		}
		done = append(done, d)
		if !in.Dry {
			f.Changes = nil
			j.Forget()
			errs = append(errs, j.Save(in.Home))
		}
	}
	return done, errors.Join(errs...)
}

// takeBack takes back what was changed in a file.
func (in Installer) takeBack(f *journal.File) (Done, error) {
	if f.Shared && !in.Dry {
		defer files.Lock(f.Path)()
	}
	for range tries {
		d, err := in.takeBackOnce(f)
		if !errors.Is(err, files.ErrChanged) {
			return d, err
		}
	}
	return Done{}, files.ErrChanged
}

func (in Installer) takeBackOnce(f *journal.File) (Done, error) {
	d := Done{File: f.Path, Host: f.Host}
	now, err := files.Read(f.Path)
	if err != nil || !now.Exists {
		return d, err // whoever removed it took ours out, too
	}
	text, exact, err := before(f, now.Text)
	if err != nil {
		return d, err
	}
	for _, c := range f.Changes {
		d.Places = append(d.Places, c.Path)
	}
	d.Exact = exact
	if f.Mode != 0 {
		now.Mode = f.Mode
	}
	left := string(bytes.TrimSpace(text))
	d.Removed = f.Created && (exact || left == "{}" || left == "")
	switch {
	case in.Dry || bytes.Equal(text, now.Text) && !d.Removed:
		return d, nil
	case d.Removed:
		if err := now.Remove(); err != nil {
			return d, err
		}
		if f.MadeDir {
			_ = os.Remove(filepath.Dir(f.Path)) // unless somebody has something in it
		}
		return d, nil
	}
	return d, now.Write(text)
}

// before is the text without what was changed: the very bytes where nobody else wrote
// since, else with each change taken out by itself.
func before(f *journal.File, text []byte) ([]byte, bool, error) {
	if files.Hash(text) == f.After && len(f.Undo) > 0 {
		if back, ok := exactly(f, text); ok {
			return back, true, nil
		}
	}
	for _, c := range slices.Backward(f.Changes) {
		var err error
		if text, err = undo(f.Format, text, f.Shape, c); err != nil {
			return nil, false, fmt.Errorf("%q: %w", last(c.Path), err)
		}
	}
	return text, f.Before != "" && files.Hash(text) == f.Before, nil
}

func exactly(f *journal.File, text []byte) ([]byte, bool) {
	for _, p := range slices.Backward(f.Undo) {
		var err error
		if text, err = p.Undo(text); err != nil {
			return nil, false
		}
	}
	return text, f.Created || files.Hash(text) == f.Before
}

// Copied says which entries bir put into files as copies for a project.
func (in Installer) Copied(root string) (func(file string, path []string) bool, error) {
	j, err := journal.Read(in.Home)
	if err != nil {
		return nil, err
	}
	project := j.Projects[root]
	return func(file string, path []string) bool {
		if project == nil {
			return false
		}
		for _, f := range project.Files {
			changes := f.Changes
			if f.Intent != nil {
				changes = slices.Concat(changes, f.Intent.Changes)
			}
			if f.Path == file && slices.ContainsFunc(changes, func(c journal.Change) bool {
				return c.Kind == journal.Put && c.Server != "" && slices.Equal(c.Path, path)
			}) {
				return true
			}
		}
		return false
	}, nil
}
