// Package wire is what the pool and its workers say to each other: length-prefixed
// frames of JSON over a worker's standard input and output. Values cross as JSON
// text. Both sides refuse a frame over their limit before they read it, since
// neither trusts the other to be small.
package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Version is of the frames below. A pool and a worker of different versions do
// not talk: an update replaces both.
const Version = 1

// ExitMemory is the exit code of a worker that stopped itself because a body went
// over its memory inside one builtin, where nothing could interrupt it.
const ExitMemory = 86

// ExitNotCompiled is the exit code of a worker for level wasm that would have to
// compile its guest first.
const ExitNotCompiled = 87

// Setup is the first frame to a worker.
type Setup struct {
	Version     int   `json:"version"`
	MemoryBytes int64 `json:"memoryBytes"` // heap growth allowed to one evaluation
	ResultBytes int64 `json:"resultBytes"`
	FrameBytes  int64 `json:"frameBytes"` // the largest frame that the pool will send
}

// Hello is the first frame from a worker.
type Hello struct {
	Version     int      `json:"version"`
	Confinement []string `json:"confinement"` // what holds the process, by name
}

// Request is one evaluation.
type Request struct {
	Source  string        `json:"source"`
	Args    []Arg         `json:"args"`
	Plain   bool          `json:"plain"` // only a plain object may come back
	Now     time.Time     `json:"now"`
	Zone    string        `json:"zone"`
	Seed    uint64        `json:"seed"`
	Timeout time.Duration `json:"timeout"`
	Lowered *Lowered      `json:"lowered,omitempty"` // only between a host at level wasm and its guest
}

// Lowered is a body's function as it was rewritten for goja, and the way back to
// what the author wrote. A guest has no room for the library that rewrites.
type Lowered struct {
	Code []byte `json:"code"`
	Map  []byte `json:"map"`
}

// Arg is one argument: JSON, or the text itself where JSON is empty.
type Arg struct {
	Name string          `json:"name"`
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
}

// Response answers one Request. Value is set unless Failure is.
type Response struct {
	Value       json.RawMessage `json:"value,omitempty"`
	Failure     *Failure        `json:"failure,omitempty"`
	Console     []string        `json:"console,omitempty"`
	Duration    time.Duration   `json:"duration"`
	MemoryBytes int64           `json:"memoryBytes"`
	Retire      bool            `json:"retire,omitempty"` // the worker asks to be replaced
}

// Failure is why there is no value. Types are those of sandbox.ErrorType.
type Failure struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

const headerBytes = 4

// Encode is the frame that carries v.
func Encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	buf.Write(make([]byte, headerBytes))
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // values keep the text that the body's JSON has
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	frame := buf.Bytes()
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-headerBytes))
	return frame, nil
}

// Read takes one frame of at most maxBytes from r into v. It returns io.EOF only
// where a frame would have begun.
func Read(r io.Reader, maxBytes int64, v any) error {
	var header [headerBytes]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(header[:])
	if int64(size) > maxBytes {
		return fmt.Errorf("frame of %d bytes, at most %d allowed", size, maxBytes)
	}
	frame := make([]byte, size)
	if _, err := io.ReadFull(r, frame); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	return json.Unmarshal(frame, v)
}
