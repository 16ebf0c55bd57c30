package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bir-run/bir/sandbox/guards"
)

// maxModules bounds how many modules one host asks, the built-in ones included.
const maxModules = 100

// sighting is a module as a look at the folders finds it, without reading it.
type sighting struct {
	name    string
	path    string // empty for a built-in one
	scope   Scope
	file    stamp  // of the module
	beside  stamp  // of its settings; zero: there are none
	problem string // why it can be no guard, whatever is in it
}

// stamp tells two states of a file apart by what a look at it shows. The zero stamp
// is that of no file.
type stamp struct {
	size, changed int64
	mode          fs.FileMode
}

// refresh looks at the folders and starts loading what is new. It returns the
// modules in the order of asking.
func (h *Host) refresh(ctx context.Context) ([]*entry, error) {
	select {
	case h.scanning <- struct{}{}:
		defer func() { <-h.scanning }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	sightings := h.look()
	pinStamp := stampOf(h.cfg.PinFile)
	fresh, gone, err := h.reconcile(sightings, pinStamp)
	if err != nil {
		return nil, err
	}
	for _, e := range gone {
		h.log.Info("guard.gone", "module", e.name, "scope", e.scope)
		go h.retire(context.WithoutCancel(ctx), e) // ends with the module's last call, which has a deadline
	}
	for _, e := range fresh {
		// It ends when the module is compiled or refused. The module is wanted even if
		// this caller gives up, so the caller's end is not its end.
		go h.load(context.WithoutCancel(ctx), e)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entries, nil
}

// reconcile swaps in the new list. Entries that still describe their file are kept.
func (h *Host) reconcile(sightings []sighting, pinStamp stamp) (fresh, gone []*entry, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, nil, errors.New("the guards are closed")
	}
	old := map[sighting]*entry{}
	for _, e := range h.entries {
		old[e.sighting] = e
	}
	entries := make([]*entry, 0, len(sightings))
	for _, s := range sightings {
		e := old[s]
		if e == nil || e.outdatedBy(pinStamp) {
			e = &entry{sighting: s, loaded: make(chan struct{}), pinStamp: pinStamp}
			fresh = append(fresh, e)
		} else {
			delete(old, s)
		}
		entries = append(entries, e)
	}
	for _, e := range old {
		gone = append(gone, e)
	}
	h.entries = entries
	h.jobs.Add(len(fresh) + len(gone)) // under the lock, so that Close cannot miss them
	return fresh, gone, nil
}

// outdatedBy says whether a changed module may have been trusted meanwhile, by
// another process.
func (e *entry) outdatedBy(pinStamp stamp) bool {
	return e.isLoaded() && e.module.State == StateChanged && e.pinStamp != pinStamp
}

// forgetEntry makes the next look see the module anew.
func (h *Host) forgetEntry(gone *entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := make([]*entry, 0, len(h.entries))
	for _, e := range h.entries {
		if e != gone {
			kept = append(kept, e)
		}
	}
	h.entries = kept
}

// look lists the modules in the order of asking.
func (h *Host) look() []sighting {
	var all []sighting
	if h.cfg.BuiltIns {
		for _, b := range guards.BuiltIns() {
			all = append(all, sighting{name: b.Name, scope: ScopeBuiltIn})
		}
	}
	all = append(all, lookIn(h.cfg.HomeDir, ScopeHome)...)
	all = append(all, lookIn(h.cfg.ProjectDir, ScopeProject)...)
	refuseCrowd(all)
	refuseTwins(all)
	return all
}

// lookIn lists one folder by file name. A folder that is there but cannot be read
// may hold rules, so it counts as a module that denies.
func lookIn(dir string, scope Scope) []sighting {
	if dir == "" {
		return nil
	}
	files, err := os.ReadDir(dir) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return []sighting{{
			name: filepath.Base(dir), path: dir, scope: scope,
			problem: fmt.Sprintf("the folder of guards cannot be read (%v); make %s a readable folder", reason(err), dir),
		}}
	}
	// A look at a file that is not there costs as much as one at a file that is, and
	// every check pays for it.
	settings := map[string]bool{}
	for _, file := range files {
		if name := strings.ToLower(file.Name()); filepath.Ext(name) == ".json" {
			settings[name] = true
		}
	}
	var found []sighting
	for _, file := range files {
		name, isModule := moduleName(file.Name())
		if isModule {
			found = append(found, sight(dir, file.Name(), name, scope, settings[strings.ToLower(name)+".json"]))
		}
	}
	return found
}

// moduleName takes the ending off. Names that start with a dot are copies under
// way, which `bir guard add` and most tools write before they rename.
func moduleName(file string) (string, bool) {
	ext := filepath.Ext(file)
	if !strings.EqualFold(ext, ".wasm") || strings.HasPrefix(file, ".") {
		return "", false
	}
	return strings.TrimSuffix(file, ext), true
}

func sight(dir, file, name string, scope Scope, hasSettings bool) sighting {
	s := sighting{name: name, path: filepath.Join(dir, file), scope: scope}
	if hasSettings {
		s.beside = stampOf(s.settingsPath())
	}
	info, err := os.Lstat(s.path)
	if err != nil {
		s.problem = fmt.Sprintf("its file cannot be looked at (%v)", reason(err))
		return s
	}
	s.file = stampFrom(info)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		s.problem = "it is a symbolic link, whose target could change unseen; copy the module itself into the folder"
	case info.IsDir():
		s.problem = "it is a folder; put the module itself there, or rename the folder"
	case !info.Mode().IsRegular():
		s.problem = "it is not an ordinary file; copy the module itself into the folder"
	case info.Size() == 0:
		s.problem = "its file is empty; copy the module again"
	case info.Size() > maxModuleBytes:
		s.problem = fmt.Sprintf("its file has %d MiB and may have %d; build it without debugging data, or split it",
			info.Size()>>20, maxModuleBytes>>20)
	}
	return s
}

// settingsPath is the JSON file beside a module.
func (s sighting) settingsPath() string {
	return strings.TrimSuffix(s.path, filepath.Ext(s.path)) + ".json"
}

func stampOf(path string) stamp {
	info, err := os.Lstat(path)
	if err != nil {
		return stamp{}
	}
	return stampFrom(info)
}

func stampFrom(info fs.FileInfo) stamp {
	return stamp{info.Size(), info.ModTime().UnixNano(), info.Mode()}
}

// refuseCrowd marks the modules beyond the most that a host asks, by name: each may
// take memory and a quarter of a second a call, and none may be left out in silence.
func refuseCrowd(all []sighting) {
	for i := range all {
		if i >= maxModules {
			all[i].problem = fmt.Sprintf("there are %d guards and may be %d; remove some, or join several rules in one module",
				len(all), maxModules)
		}
	}
}

// refuseTwins marks modules that share a name, case aside: which of them a log or
// a pin means would be anyone's guess. A built-in module keeps its name.
func refuseTwins(all []sighting) {
	first := map[string]int{}
	for i := range all {
		name := strings.ToLower(all[i].name)
		j, taken := first[name]
		if !taken {
			first[name] = i
			continue
		}
		if all[j].scope == ScopeBuiltIn {
			all[i].problem = "a built-in guard has this name; rename the file"
			continue
		}
		all[i].problem = "another guard has the same name (" + all[j].path + "); rename one of them"
		all[j].problem = "another guard has the same name (" + all[i].path + "); rename one of them"
	}
}

// reason is the cause of a file error without its path, which the sentence around
// it already names.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
