package locate

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/bir-run/bir/control/client/scan"
)

// File is what the discovery file says. Only the user may read it: the token in it
// is the right to write into the user's runs.
type File struct {
	URL       string `json:"url"`    // http://127.0.0.1:PORT
	Socket    string `json:"socket"` // of a Unix socket; empty where there is none
	Token     string `json:"token"`
	PID       int    `json:"pid"`
	Version   string `json:"version"`
	Root      string `json:"root"`
	StartedAt int64  `json:"startedAt"` // milliseconds since 1970
	SessionID string `json:"sessionId"`
}

// Errors of a discovery file that is there and not to be believed. They do not say
// what it holds.
var (
	ErrExposed = errors.New("the discovery file is not the user's alone")
	ErrForeign = errors.New("the discovery file belongs to another user")
	ErrBad     = errors.New("the discovery file is damaged")
	ErrRemote  = errors.New("the discovery file names an address that is not this machine's")
)

const maxFileBytes = 64 << 10

// Read reads the discovery file of a root. A missing file is os.ErrNotExist.
func Read(home, root string) (File, error) {
	path := Path(home, root)
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	if err := private(f); err != nil {
		return File{}, err
	}
	text, err := readAll(f, maxFileBytes)
	if err != nil {
		return File{}, err
	}
	file, ok := parse(text)
	if !ok || file.Token == "" {
		return File{}, ErrBad
	}
	if _, ok := file.Address(); !ok {
		return File{}, ErrRemote
	}
	return file, nil
}

// parse reads the file's text by hand, for the sake of the hooks. What it does not
// know it passes over.
func parse(text []byte) (f File, ok bool) {
	texts := map[string]*string{
		"url": &f.URL, "socket": &f.Socket, "token": &f.Token,
		"version": &f.Version, "root": &f.Root, "sessionId": &f.SessionID,
	}
	well := true
	ok = scan.Members(text, func(key string, value []byte) bool {
		switch into, isText := texts[key]; {
		case isText:
			*into, well = scan.String(value)
		case key == "pid" || key == "startedAt":
			var n int64
			if n, well = scan.Int(value); key == "pid" {
				f.PID = int(n)
			} else {
				f.StartedAt = n
			}
		}
		return well
	})
	return f, ok && well
}

// Address is the host and port of the URL, which must be a loopback one.
func (f File) Address() (string, bool) {
	address, ok := strings.CutPrefix(f.URL, "http://")
	if !ok {
		return "", false
	}
	address = strings.TrimSuffix(address, "/")
	port, ok := strings.CutPrefix(address, "127.0.0.1:")
	if !ok {
		port, ok = strings.CutPrefix(address, "[::1]:")
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return address, ok && err == nil && n > 0
}

var errTooLarge = errors.New("file is too large")

// readSmall reads a regular file. Opening anything else may wait for ever, and these
// paths come out of other people's repositories.
func readSmall(path string, most int) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, os.ErrNotExist
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, most)
}

func readAll(r io.Reader, most int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(most)+1))
	if err == nil && len(text) > most {
		return nil, errTooLarge
	}
	return text, err
}
