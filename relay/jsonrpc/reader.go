package jsonrpc

import (
	"bytes"
	"errors"
	"io"
)

const (
	// readBytes is the capacity of a pipe on Linux: one read can empty it.
	readBytes = 64 << 10
	// keptBytes is how large a buffer may stay after a long line. A larger one is
	// given back, so that one big answer does not stay in memory for the session.
	keptBytes = 2 << 20
	// DefaultMaxBytes is the longest line that a Reader keeps unless told otherwise.
	DefaultMaxBytes = 128 << 20
)

// ErrTruncated is the end of a stream inside a line. Next returns it together
// with that line, which has been read and forwarded like any other.
var ErrTruncated = errors.New("stream ended inside a message")

// When says at which moment bytes go to a Reader's Forward.
type When uint8

// The moments of forwarding.
const (
	// Early forwards bytes as they are read, before anyone looks at them.
	Early When = iota
	// Late forwards bytes once every line that ends in them has been yielded, so
	// that a request is known before its answer can come. A line that goes on for
	// longer than one read does not wait for its end.
	Late
	// Held forwards whole lines, after they have been yielded, so that a line can be
	// replaced. Only a line over the limit goes on in pieces.
	Held
)

// Reader cuts a stream into lines and classifies each, and passes the stream on
// unchanged. It reads and writes in large pieces. A line over the limit is not kept
// but still forwarded and classified.
type Reader struct {
	Source   io.Reader
	Forward  io.Writer // nil forwards nothing
	When     When
	MaxBytes int // the longest line kept; 0 means DefaultMaxBytes
	// MaxForward is how much of a line is forwarded, its end not counted: what is over
	// is dropped, and the line is Clipped. 0 means all. Under Held it is for lines over
	// MaxBytes only; Late has no use for it.
	MaxForward int
	// Wanted, when set, is asked about a long answer whose id came before its result:
	// false cuts the line as if it were over the limit. Of such answers only the head
	// is looked at, however short they are: Classify of Raw finds the result.
	Wanted func(id []byte) bool
	// Hold, when set, is asked after each read under Early: while it holds, whole lines
	// go on as under Held, and the longest kept has MaxHeld bytes if that is more. A line
	// that nobody but us has asked for is so kept from going on.
	Hold    func() bool
	MaxHeld int

	buf     []byte
	sent    int // how far the buffer has been forwarded
	start   int // of the line under way
	sought  int // how far its end has been looked for
	scanned int // how far it has been classified
	size    int // bytes of the line that left the buffer
	cut     bool
	holding bool
	err     error
	scan    scanner
}

// moment is When, as it is for the line under way.
func (r *Reader) moment() When {
	if r.holding && r.When == Early {
		return Held
	}
	return r.When
}

// Next returns the next line. A clean end is io.EOF; a line without a delimiter
// at the end comes with ErrTruncated. An error of Forward ends the stream.
func (r *Reader) Next() (Message, error) {
	r.scan.headOnly = r.Wanted != nil
	r.scan.reset()
	r.size, r.cut = 0, false
	for {
		if m, ok := r.complete(); ok {
			return m, nil
		}
		if r.err != nil {
			return r.last()
		}
		if r.refill(); r.err != nil && r.err != io.EOF {
			return r.last()
		}
	}
}

// Replace makes the line that Next just returned go on as b, under Held. A line of
// which some went on before Hold held goes on as it is.
func (r *Reader) Replace(line Message, b []byte) {
	begin := r.start - len(line.Raw)
	if r.moment() != Held || line.Cut || r.sent > begin {
		return
	}
	r.forward(begin)
	r.write(b)
	r.sent = r.start
}

// complete looks for the end of the line in what has been read. A line is
// classified when it is complete: its last bytes are on their way by then, and
// should not have to wait for that.
func (r *Reader) complete() (Message, bool) {
	end := bytes.IndexByte(r.buf[r.sought:], '\n')
	if end < 0 {
		r.sought = len(r.buf)
		return Message{}, false
	}
	return r.take(r.sought + end + 1), true
}

// classify looks at the line up to end of the buffer.
func (r *Reader) classify(end int) {
	r.scan.feed(r.buf[r.scanned:end])
	r.scanned = end
}

// take yields the line that ends at end of the buffer.
func (r *Reader) take(end int) Message {
	r.classify(end)
	raw := r.buf[r.start:end:end]
	size := r.size + len(raw)
	if r.cut {
		raw = nil
	}
	r.start, r.sought = end, end
	m := r.scan.message(raw, size, r.cut)
	m.Clipped = r.MaxForward > 0 && size-r.delimiter(end) > r.MaxForward
	return m
}

// delimiter is the length of what ends the line before end.
func (r *Reader) delimiter(end int) int {
	if end > 0 && r.buf[end-1] == '\n' {
		return 1
	}
	return 0
}

// last yields what stands in the buffer when the source has ended.
func (r *Reader) last() (Message, error) {
	if r.size+len(r.buf)-r.start == 0 {
		r.forward(len(r.buf))
		return Message{}, r.err
	}
	m := r.take(len(r.buf))
	r.forward(len(r.buf))
	if r.err == io.EOF {
		return m, ErrTruncated
	}
	return m, r.err
}

func (r *Reader) refill() {
	switch when := r.moment(); {
	case when == Late:
		r.forward(len(r.buf))
	case when == Early, r.cut: // Early has forwarded all of it, unless it was Held until now
		r.passOn()
	case when == Held:
		r.forward(r.start)
	}
	r.room()
	n, err := r.Source.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	if r.err == nil {
		r.err = err
	}
	r.holding = r.Hold != nil && r.Hold()
	if r.moment() == Early {
		r.passOn()
	}
}

// passOn forwards the buffer, and of each line no more than may be forwarded.
func (r *Reader) passOn() {
	if r.MaxForward == 0 || r.size+len(r.buf)-r.start <= r.MaxForward {
		r.forward(len(r.buf))
		return
	}
	begin := r.start - r.size // of the line, which may be before the buffer
	for r.sent < len(r.buf) {
		end := indexFrom(r.buf, max(r.sent, r.start), '\n')
		r.forward(min(end, begin+r.MaxForward))
		r.sent = end
		if end < len(r.buf) {
			r.forward(end + 1)
			begin = end + 1
		}
	}
}

// room makes space for a read of full size: by moving the line under way to the
// front, by growing, or, above the limit, by letting go of the line.
func (r *Reader) room() {
	held := len(r.buf) - r.start
	if r.cut || held >= r.limit() || held > cap(r.buf)-readBytes/2 && !r.wanted() {
		r.passOn()
		r.classify(len(r.buf))
		r.cut, r.size = true, r.size+held
		r.start, held = len(r.buf), 0
	}
	unsent := len(r.buf) - r.sent // the line under way, or nothing
	switch {
	case held == 0 && (r.buf == nil || cap(r.buf) > keptBytes):
		r.buf = make([]byte, 0, readBytes)
	case held == 0:
		r.buf = r.buf[:0]
	case cap(r.buf)-len(r.buf) >= readBytes/2:
		return
	case cap(r.buf)-held >= readBytes/2:
		r.buf = r.buf[:copy(r.buf[:held], r.buf[r.start:])]
	default:
		grown := make([]byte, held, 2*cap(r.buf))
		copy(grown, r.buf[r.start:])
		r.buf = grown
	}
	r.scanned -= r.start
	r.start, r.sought, r.sent = 0, held, held-unsent
}

// wanted asks about a line that has outgrown the buffer, once its head says which
// answer it is.
func (r *Reader) wanted() bool {
	if r.Wanted == nil || r.moment() != Early {
		return true
	}
	r.classify(len(r.buf))
	return r.scan.state != isSettled || r.Wanted(r.scan.id)
}

func (r *Reader) forward(end int) {
	if end > r.sent {
		r.write(r.buf[r.sent:end])
		r.sent = end
	}
}

func (r *Reader) write(b []byte) {
	if r.Forward == nil {
		return
	}
	if _, err := r.Forward.Write(b); err != nil {
		r.Forward, r.err = nil, err
	}
}

func (r *Reader) limit() int {
	limit := r.MaxBytes
	if limit <= 0 {
		limit = DefaultMaxBytes
	}
	if r.holding {
		return max(limit, r.MaxHeld)
	}
	return limit
}
