package main

import (
	"bytes"
	"io"
	"os"
)

// firstRead is as much as one read of a pipe can give.
const firstRead = 64 << 10

// firstWord waits for the host to say something, and returns its input with that
// still to be read; nil when the host ended first, or a signal came.
func firstWord(in io.ReadCloser, signals <-chan os.Signal) (io.ReadCloser, os.Signal) {
	type word struct {
		text []byte
		err  error
	}
	said := make(chan word, 1)
	// Ends with the first read. After a signal that may outlast us; the process ends it.
	go func() {
		b := make([]byte, firstRead)
		n, err := in.Read(b)
		said <- word{b[:n], err}
	}()
	select {
	case w := <-said:
		if len(w.text) == 0 {
			return nil, nil
		}
		return resumed{io.MultiReader(bytes.NewReader(w.text), in), in}, nil
	case sig := <-signals:
		return nil, sig
	}
}

// resumed is an input of which the beginning was read before.
type resumed struct {
	io.Reader
	io.Closer
}
