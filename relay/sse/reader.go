// Package sse cuts an event stream into events, as the HTML standard says (section
// 9.2.6). It is pure: it opens nothing and starts nothing. It must give the same
// events however the stream is split into reads, and never an event that has not
// ended.
package sse

import (
	"bytes"
	"io"
	"strconv"
	"time"
)

const (
	chunkBytes = 32 << 10
	// keptBytes is how large the buffer of an event's data may stay. A larger one is
	// given back.
	keptBytes = 2 << 20
	// maxFieldBytes bounds an id and an event's type. A longer one is ignored.
	maxFieldBytes = 8 << 10
	// maxRetry bounds what a stream may ask for.
	maxRetry = 10 * time.Minute
	// DefaultMaxBytes is the largest event's data that a Reader keeps unless told
	// otherwise.
	DefaultMaxBytes = 128 << 20
)

// Event is one event. Its Data holds until the next call of Next, and has room for
// one more byte.
type Event struct {
	Type string // empty for the usual "message"
	Data []byte // nothing of a Cut one
	Size int    // bytes of the data
	Cut  bool   // the data was longer than the Reader keeps
}

// Reader reads the events of one stream.
type Reader struct {
	Source   io.Reader
	MaxBytes int // the largest data kept; 0 means DefaultMaxBytes
	// Grow, when set, is told how large the data is about to become, each time that
	// more memory is needed. Its error ends the stream.
	Grow func(bytes int) error
	// Over, when set, gets the data of an event that is larger than MaxBytes, from its
	// first byte on.
	Over func(piece []byte)

	chunk   []byte
	unread  []byte
	err     error
	state   state
	started bool // the byte order mark, if any, is behind us
	afterCR bool
	name    []byte
	value   []byte
	long    bool // the value is over maxFieldBytes
	data    []byte
	size    int
	lines   int // data lines of this event
	cut     bool
	kind    string
	id      []byte // of the event under way
	lastID  []byte
	retry   time.Duration
	asked   bool // a retry was set
}

type state uint8

const (
	atLine state = iota
	inName
	atValue // behind the colon, where one space is skipped
	inValue
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Reset makes the reader begin with another stream, in the memory that it has.
func (r *Reader) Reset(source io.Reader) {
	*r = Reader{Source: source, MaxBytes: r.MaxBytes, Grow: r.Grow, Over: r.Over,
		chunk: r.chunk, name: r.name, value: r.value, data: r.data, id: r.id[:0], lastID: r.lastID[:0]}
	r.release()
}

// LastEventID is the id to resume the stream from; empty when there is none. A
// value set without data counts too.
func (r *Reader) LastEventID() string { return string(r.lastID) }

// Retry is how long the stream asks to wait before a reconnection; ok tells
// whether it asked.
func (r *Reader) Retry() (wait time.Duration, ok bool) { return r.retry, r.asked }

// Next returns the next event. The end of the stream is io.EOF; an event that it
// cut short is not given, nor does its id count.
func (r *Reader) Next() (Event, error) {
	r.release()
	for {
		for len(r.unread) > 0 {
			if done, err := r.step(); err != nil {
				r.unread, r.err = nil, err
				return Event{}, err
			} else if done {
				return r.event(), nil
			}
		}
		if r.err != nil {
			return Event{}, r.err
		}
		r.fill()
	}
}

// release forgets the data of the event before.
func (r *Reader) release() {
	if cap(r.data) > keptBytes {
		r.data = nil
	}
	r.data, r.size, r.lines, r.cut, r.kind = r.data[:0], 0, 0, false, ""
}

func (r *Reader) fill() {
	if r.chunk == nil {
		r.chunk = make([]byte, chunkBytes)
	}
	n, err := r.Source.Read(r.chunk)
	r.unread, r.err = r.chunk[:n], err
	if !r.started {
		r.skipMark()
	}
}

// skipMark skips a byte order mark, for which up to three reads may be needed.
func (r *Reader) skipMark() {
	for len(r.unread) < len(byteOrderMark) && bytes.HasPrefix(byteOrderMark, r.unread) && r.err == nil {
		n, err := r.Source.Read(r.chunk[len(r.unread):])
		r.unread, r.err = r.chunk[:len(r.unread)+n], err
	}
	r.unread = bytes.TrimPrefix(r.unread, byteOrderMark)
	r.started = true
}

// step consumes something of what is unread; done means that an event has ended.
func (r *Reader) step() (done bool, err error) {
	if r.afterCR {
		r.afterCR = false
		if r.unread[0] == '\n' {
			r.unread = r.unread[1:]
			return false, nil
		}
	}
	piece, ended := r.line()
	if r.state == atLine {
		if len(piece) == 0 {
			return ended && r.endEvent(), nil
		}
		r.state, r.name, r.value, r.long = inName, r.name[:0], r.value[:0], false
	}
	if r.state == inName {
		piece = r.takeName(piece)
	}
	if r.state == atValue && len(piece) > 0 {
		piece = bytes.TrimPrefix(piece, []byte(" "))
		r.state, err = inValue, r.startData()
	}
	if r.state == inValue && err == nil {
		err = r.takeValue(piece)
	}
	if ended && err == nil {
		err = r.endField()
	}
	return false, err
}

// line takes what is unread up to the end of the line, and the end itself.
func (r *Reader) line() (piece []byte, ended bool) {
	end := bytes.IndexByte(r.unread, '\n')
	if end < 0 {
		end = len(r.unread)
	}
	if cr := bytes.IndexByte(r.unread[:end], '\r'); cr >= 0 {
		end = cr
	}
	piece = r.unread[:end]
	if end == len(r.unread) {
		r.unread = nil
		return piece, false
	}
	r.afterCR = r.unread[end] == '\r'
	r.unread = r.unread[end+1:]
	return piece, true
}

// endEvent ends the lines so far, which are an event only if there was data.
func (r *Reader) endEvent() bool {
	r.lastID = append(r.lastID[:0], r.id...)
	if r.lines == 0 {
		r.kind = ""
	}
	return r.lines > 0
}

// takeName takes the field's name and returns what stands behind its colon.
func (r *Reader) takeName(piece []byte) []byte {
	name, rest, colon := bytes.Cut(piece, []byte(":"))
	if len(r.name) <= len("event") {
		r.name = append(r.name, name[:min(len(name), len("event")+1)]...)
	}
	if colon {
		r.state = atValue
	}
	return rest
}

func (r *Reader) takeValue(piece []byte) error {
	if r.isData() {
		return r.grow(piece)
	}
	if len(r.value)+len(piece) > maxFieldBytes {
		r.long = true
	} else if len(r.name) > 0 {
		r.value = append(r.value, piece...)
	}
	return nil
}

func (r *Reader) isData() bool { return string(r.name) == "data" }

// startData begins one line of data.
func (r *Reader) startData() error {
	if !r.isData() {
		return nil
	}
	r.lines++
	if r.lines == 1 {
		return nil
	}
	return r.grow([]byte("\n"))
}

// endField ends a line that was not empty, and acts on it.
func (r *Reader) endField() error {
	if r.state != inValue { // "data" alone, or "data:"
		if err := r.startData(); err != nil {
			return err
		}
	}
	r.state = atLine
	if r.long {
		return nil
	}
	switch string(r.name) {
	case "event":
		r.kind = eventType(r.value)
	case "id":
		if bytes.IndexByte(r.value, 0) < 0 {
			r.id = append(r.id[:0], r.value...)
		}
	case "retry":
		r.setRetry()
	}
	return nil
}

func eventType(value []byte) string {
	if string(value) == "message" {
		return ""
	}
	return string(value)
}

func (r *Reader) setRetry() {
	for _, c := range r.value {
		if c < '0' || c > '9' {
			return
		}
	}
	if len(r.value) == 0 {
		return
	}
	r.asked, r.retry = true, maxRetry
	if ms, err := strconv.Atoi(string(r.value)); err == nil && ms < int(maxRetry/time.Millisecond) {
		r.retry = time.Duration(ms) * time.Millisecond
	}
}

// grow adds to the data, in memory that is asked for, or, above the limit, hands it
// to Over.
func (r *Reader) grow(piece []byte) error {
	r.size += len(piece)
	if !r.cut && r.size > r.limit() {
		r.cut = true
		r.over(r.data)
		r.data = nil
	}
	if r.cut {
		r.over(piece)
		return nil
	}
	if need := len(r.data) + len(piece) + 1; need > cap(r.data) {
		size := min(max(need, 2*cap(r.data)), r.limit()+1)
		if r.Grow != nil {
			if err := r.Grow(size); err != nil {
				return err
			}
		}
		grown := make([]byte, len(r.data), size)
		copy(grown, r.data)
		r.data = grown
	}
	r.data = append(r.data, piece...)
	return nil
}

func (r *Reader) over(piece []byte) {
	if r.Over != nil {
		r.Over(piece)
	}
}

func (r *Reader) limit() int {
	if r.MaxBytes > 0 {
		return r.MaxBytes
	}
	return DefaultMaxBytes
}

func (r *Reader) event() Event {
	return Event{Type: r.kind, Data: r.data, Size: r.size, Cut: r.cut}
}
