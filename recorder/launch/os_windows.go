package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const (
	detachedProcess     = 0x00000008
	belowNormalPriority = 0x00004000
)

// detached gives a child no console and a process group of its own, and lets the tools
// of the session that is recorded go first.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess | belowNormalPriority, HideWindow: true,
	}
}

func stepBack(int) {} // it was started so

// private relies on the folder: what lies in a user's profile is that user's.
func private(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	return nil
}

// replaceFile renames a finished file into place: renameio has no Windows.
func replaceFile(path string, text []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), "service-*.tmp")
	if err != nil {
		return err
	}
	_, err = tmp.Write(text)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
