package sqlite

import (
	"errors"
	"syscall"
)

// The codes of a disk that is full.
const (
	errorHandleDiskFull = syscall.Errno(39)
	errorDiskFull       = syscall.Errno(112)
)

// noSpace says whether there is no room for a write.
func noSpace(err error) bool {
	return errors.Is(err, errorHandleDiskFull) || errors.Is(err, errorDiskFull)
}
