package launch

import (
	"errors"
	"io/fs"
)

// private relies on the folder: what lies in a user's profile is that user's.
func private(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	return nil
}
