package files

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

const (
	// staleAfter is when Claude Code takes a lock for one that was left over. Whoever
	// holds one touches it all the time.
	staleAfter = 10 * time.Second
	lockWait   = 3 * time.Second
	lockPause  = 20 * time.Millisecond
)

// Lock takes the lock that Claude Code takes before it writes its own file: a folder
// beside it. Where it cannot be had in a while, the file is not locked: that it was
// not rewritten is looked at once more before it is replaced, anyway.
func Lock(path string) (unlock func()) {
	dir := path + ".lock"
	for until := time.Now().Add(lockWait); time.Now().Before(until); time.Sleep(lockPause) {
		err := os.Mkdir(dir, 0o700)
		if err == nil {
			return func() { _ = os.Remove(dir) }
		}
		if !errors.Is(err, fs.ErrExist) {
			break // the folder is not ours to write: the write itself will say so
		}
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(dir)
		}
	}
	return func() {}
}
