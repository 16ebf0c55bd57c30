// Package post sends a control server one request and reads the answer: HTTP/1.1 by
// hand, over the Unix socket where there is one, else over loopback. It is for
// processes that live for a few milliseconds, in which net/http alone takes one; what
// lives longer uses package client. It imports the standard library only, follows
// nothing and repeats nothing: what was sent may have been heard.
package post

import (
	"errors"
	"strconv"
	"time"

	"github.com/bir-run/bir/control/client/locate"
)

// Answer is what the control server said.
type Answer struct {
	Status int
	Body   []byte
}

// Errors that a caller tells apart.
var (
	// ErrAway says that nobody listens where the discovery file points to.
	ErrAway = errors.New("the control server is away")
	// ErrLate says that the answer did not come in time.
	ErrLate = errors.New("the control server did not answer in time")
	// ErrTooLarge says that there was more of an answer than anyone should send.
	ErrTooLarge = errors.New("the control server's answer is too large")
	errGarbage  = errors.New("the control server's answer is not HTTP")
	errShort    = errors.New("the control server's answer was cut short")
)

// copiedBytes is up to which length a body is put behind the head in one write: the
// server then wakes once. Copying a long one would cost more than that.
const copiedBytes = 64 << 10

// Post sends body to a path of the control server that file describes.
func Post(file locate.File, path string, body []byte, until time.Time) (Answer, error) {
	c, err := connect(file, until)
	if err != nil {
		return Answer{}, err
	}
	defer c.Close()
	sent := send(c, head(file, path, len(body)), body)
	// A server that refuses a body may answer before it has read it all.
	answer, err := readAnswer(c)
	if err != nil && sent != nil {
		err = sent
	}
	return answer, err
}

func send(c *conn, head, body []byte) error {
	if len(body) <= copiedBytes {
		_, err := c.Write(append(head, body...))
		return err
	}
	if _, err := c.Write(head); err != nil {
		return err
	}
	_, err := c.Write(body)
	return err
}

func head(file locate.File, path string, length int) []byte {
	host, _ := file.Address() // which the gate of the server wants to see, over the socket too
	b := make([]byte, 0, 512+min(length, copiedBytes))
	for _, text := range [...]string{
		"POST ", path, " HTTP/1.1\r\nHost: ", host,
		"\r\nAuthorization: Bearer ", file.Token,
		"\r\nContent-Type: application/json\r\nContent-Length: ", strconv.Itoa(length),
		"\r\nConnection: close\r\n\r\n",
	} {
		b = append(b, text...)
	}
	return b
}

// connect tries the socket first. Its folder is the user's alone, whereas the port of
// a server that died may be anyone's by now: it gets no token of ours unless the
// process that wrote the file is there.
func connect(file locate.File, until time.Time) (*conn, error) {
	if file.Socket != "" {
		c, err := dialSocket(file.Socket, until)
		if err == nil || errors.Is(err, ErrLate) {
			return c, err
		}
	}
	address, ok := file.Address()
	if !ok || !alive(file.PID) {
		return nil, ErrAway
	}
	return dialLoopback(address, until)
}
