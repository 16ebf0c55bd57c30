package app

import (
	"io"
	"os"
)

// progressOut is standard error where it is a terminal, else nothing: a progress
// bar in a log helps nobody.
func (a *App) progressOut() io.Writer {
	file, ok := a.Err.(*os.File)
	if !ok {
		return io.Discard
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return io.Discard
	}
	return file
}
