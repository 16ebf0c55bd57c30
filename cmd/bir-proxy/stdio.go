package main

import "os"

// hostInput gives standard input back as it was when it is closed.
type hostInput struct {
	*os.File
	restore func()
}

func (h hostInput) Close() error {
	h.restore()
	return h.File.Close()
}
