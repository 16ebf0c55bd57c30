//go:build unix

package post

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// conn is a blocking socket whose calls end at a time. Package net would do the same
// and cost the process a twentieth more: its start, a poller, and larger pages to map.
type conn struct {
	fd    int
	until time.Time
}

func dialSocket(path string, until time.Time) (*conn, error) {
	return open(syscall.AF_UNIX, &syscall.SockaddrUnix{Name: path}, until)
}

// dialLoopback takes what locate.File's Address lets through.
func dialLoopback(address string, until time.Time) (*conn, error) {
	at := strings.LastIndexByte(address, ':')
	port, err := strconv.Atoi(address[at+1:])
	if err != nil {
		return nil, ErrAway
	}
	var c *conn
	if address[0] == '[' {
		c, err = open(syscall.AF_INET6, &syscall.SockaddrInet6{Port: port, Addr: [16]byte{15: 1}}, until)
	} else {
		c, err = open(syscall.AF_INET, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}, until)
	}
	if err == nil { // else the end of a long body waits for an acknowledgement
		_ = syscall.SetsockoptInt(c.fd, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
	}
	return c, err
}

func open(family int, to syscall.Sockaddr, until time.Time) (*conn, error) {
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(fd)
	c := &conn{fd: fd, until: until}
	err = c.limit(syscall.SO_SNDTIMEO)
	if err == nil {
		_, err = again(func() (int, error) { return 0, syscall.Connect(fd, to) })
	}
	if err == nil {
		return c, nil
	}
	c.Close()
	if errors.Is(err, ErrLate) {
		return nil, ErrLate
	}
	return nil, ErrAway
}

// limit lets the next call of a kind wait until the time is up.
func (c *conn) limit(kind int) error {
	left := time.Until(c.until)
	if left <= 0 {
		return ErrLate
	}
	wait := syscall.NsecToTimeval(max(left, time.Millisecond).Nanoseconds()) // zero would be for ever
	return syscall.SetsockoptTimeval(c.fd, syscall.SOL_SOCKET, kind, &wait)
}

func (c *conn) Read(b []byte) (int, error) {
	if err := c.limit(syscall.SO_RCVTIMEO); err != nil {
		return 0, err
	}
	n, err := again(func() (int, error) { return syscall.Read(c.fd, b) })
	if err == nil && n == 0 && len(b) > 0 {
		err = io.EOF
	}
	return max(n, 0), err
}

func (c *conn) Write(b []byte) (written int, err error) {
	for written < len(b) {
		if err := c.limit(syscall.SO_SNDTIMEO); err != nil {
			return written, err
		}
		n, err := again(func() (int, error) { return syscall.Write(c.fd, b[written:]) })
		if err != nil {
			return written, err
		}
		written += n
	}
	return written, nil
}

func (c *conn) Close() error { return syscall.Close(c.fd) }

// again repeats a call that a signal interrupted, and names a time that ran out.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN || err == syscall.EWOULDBLOCK || err == syscall.EINPROGRESS:
			return n, ErrLate
		default:
			return n, err
		}
	}
}

// alive says whether a process is there, also one that is not ours to signal.
func alive(pid int) bool {
	if pid <= 0 { // these would name whole groups
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || err == syscall.EPERM
}
