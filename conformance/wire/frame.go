package wire

import (
	"encoding/binary"
	"io"
)

// What the upstream is told.
const (
	DoWrite      = 'o' // payload to standard output
	DoComplain   = 'r' // payload to standard error
	DoExit       = 'x' // with the code in the payload
	DoDie        = 'k' // of the signal in the payload
	DoGrandchild = 'g' // start one that ignores every signal
	DoCloseOut   = 'c'
	DoRepeat     = 'm' // to standard output: a count of 4 bytes, and what is written as often
)

// What it tells.
const (
	ToldHello      = 'h' // pid
	ToldInput      = 'i' // bytes of standard input
	ToldEnd        = 'e' // of standard input
	ToldSignal     = 's'
	ToldGrandchild = 'p' // pid
)

// Frame is one thing that the upstream is told, or tells.
type Frame struct {
	Kind    byte
	Payload []byte
}

// WriteFrame writes one.
func WriteFrame(w io.Writer, f Frame) error {
	head := make([]byte, 5, 5+len(f.Payload))
	head[0] = f.Kind
	binary.BigEndian.PutUint32(head[1:], uint32(len(f.Payload)))
	_, err := w.Write(append(head, f.Payload...))
	return err
}

// ReadFrame reads one.
func ReadFrame(r io.Reader) (Frame, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: head[0], Payload: make([]byte, binary.BigEndian.Uint32(head[1:]))}
	_, err := io.ReadFull(r, f.Payload)
	return f, err
}
