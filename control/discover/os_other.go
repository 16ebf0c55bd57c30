//go:build !linux

package discover

import "syscall"

const canShare = false

func reusable(string, string, syscall.RawConn) error { return nil }
