package client

import (
	"io"
	"sync"
	"sync/atomic"
)

// maxStepBytes bounds the buffer that is kept for the next rows.
const maxStepBytes = 2 * maxRowBytes

// buffer is where the rows of some calls stand, until they are sent or spooled. Then
// others take their place, unless a transport still reads there: it may, even after a
// request has ended.
type buffer struct {
	bytes   []byte
	readers atomic.Int32
}

// free says whether the buffer may be written to again.
func (b *buffer) free() bool { return b.readers.Load() == 0 && cap(b.bytes) <= maxStepBytes }

// array is the JSON array of some records' steps.
type array []record

// Size implements api.Stream, as does Open.
func (a array) Size() int64 {
	size := len("[]") + len(a) - 1
	for _, r := range a {
		size += len(r.Step)
	}
	return int64(size)
}

// Open lets the array be read once; whoever reads it closes it.
func (a array) Open() io.ReadCloser { return newList(a) }

// list is such an array, read from where the steps stand: a copy would cost as much as
// finding what is in them.
type list struct {
	records []record
	at      int    // piece
	rest    []byte // of the piece before
	mark    [1]byte
	closed  sync.Once
}

func newList(rs []record) *list {
	if rs[0].in != nil {
		rs[0].in.readers.Add(1)
	}
	return &list{records: rs}
}

// pieces are a mark before each step, the steps, and the closing bracket.
func (l *list) pieces() int { return 2*len(l.records) + 1 }

func (l *list) piece(at int) []byte {
	switch {
	case at%2 == 1:
		return l.records[at/2].Step
	case at == 0:
		l.mark[0] = '['
	case at == l.pieces()-1:
		l.mark[0] = ']'
	default:
		l.mark[0] = ','
	}
	return l.mark[:]
}

// Read implements io.Reader.
func (l *list) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(l.rest) == 0 {
			if l.at == l.pieces() {
				break
			}
			l.rest = l.piece(l.at)
			l.at++
		}
		copied := copy(p[n:], l.rest)
		n, l.rest = n+copied, l.rest[copied:]
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Close implements io.Closer. A transport reads nothing after it.
func (l *list) Close() error {
	l.closed.Do(func() {
		if in := l.records[0].in; in != nil {
			in.readers.Add(-1)
		}
	})
	return nil
}
