//go:build !unix

package post

import (
	"errors"
	"net"
	"os"
	"time"
)

// conn is a connection whose calls end at a time.
type conn struct{ net.Conn }

func dialSocket(path string, until time.Time) (*conn, error) { return open("unix", path, until) }

func dialLoopback(address string, until time.Time) (*conn, error) { return open("tcp", address, until) }

func open(network, address string, until time.Time) (*conn, error) {
	c, err := (&net.Dialer{Deadline: until}).Dial(network, address)
	switch {
	case err == nil:
		return &conn{c}, c.SetDeadline(until)
	case errors.Is(late(err), ErrLate):
		return nil, ErrLate
	}
	return nil, ErrAway
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, late(err)
}

func (c *conn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, late(err)
}

func late(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrLate
	}
	return err
}

// alive takes the file's word: there is no cheap question here, and a port of
// loopback is not for other users of a machine that has but one.
func alive(int) bool { return true }
