// Package atomicfile puts a file in place that is for its owner only, in one step: who
// reads it sees the old text or the new one, whatever ends its writer. It is not
// renameio's, which has no Windows. It makes no folder, and follows no link: what lies
// at the path is replaced.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write puts the file in place.
func Write(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // which is gone once it is renamed
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
