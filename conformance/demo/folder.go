package demo

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// marker says that a folder is a demonstration's, so that it may be emptied.
const marker = ".bir-demo"

// claim takes the folder for one demonstration at a time. A folder with something
// else in it is refused: its contents are not ours to delete.
func claim(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	mark := filepath.Join(dir, marker)
	if _, err := os.Stat(mark); err != nil {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 {
			return nil, fmt.Errorf("%s is not empty and no demonstration's folder: name another with --dir", dir)
		}
	}
	lock := flock.New(mark, flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", mark, err)
	}
	if !taken {
		return nil, fmt.Errorf("another demonstration is running in %s: wait for it, or name another folder with --dir", dir)
	}
	return func() { _ = lock.Unlock() }, nil
}
