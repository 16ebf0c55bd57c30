//go:build !windows

package sqlite

import (
	"errors"
	"syscall"
)

// noSpace says whether there is no room for a write.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
