package web

import (
	"io"
	"os"
	"sync"
)

const (
	// smallBytes is the longest line that is copied, so that its writer need not wait
	// for the reader.
	smallBytes = 16 << 10
	// outboxBytes bounds the copies that wait.
	outboxBytes = 64 << 10
)

// outbox takes lines from many writers for one reader. It holds little: a writer
// waits while the reader does not read. (io.Pipe makes every writer wait until the
// reader has run, which costs a small answer one more switch of goroutines.)
type outbox struct {
	writing sync.Mutex // one line at a time; taken before mu

	mu     sync.Mutex // guards all below
	change *sync.Cond
	small  []byte
	large  []byte // the rest of a line that its writer holds
	ended  bool   // nothing more is written
	unread bool   // nobody reads any more
}

func newOutbox() *outbox {
	o := &outbox{}
	o.change = sync.NewCond(&o.mu)
	return o
}

// Write hands one line over whole.
func (o *outbox) Write(line []byte) (int, error) {
	o.writing.Lock()
	defer o.writing.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(line) > smallBytes {
		o.large = line
		o.change.Broadcast()
	}
	for !o.ended && !o.unread && (len(o.large) > 0 || len(line) <= smallBytes && len(o.small)+len(line) > outboxBytes) {
		o.change.Wait()
	}
	if o.ended || o.unread {
		o.large = nil
		return 0, os.ErrClosed
	}
	if len(line) <= smallBytes {
		o.small = append(o.small, line...)
		o.change.Broadcast()
	}
	return len(line), nil
}

// Read reads what is there. What was written before the end can be read after it.
func (o *outbox) Read(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.small) == 0 && len(o.large) == 0 {
		if o.ended || o.unread {
			return 0, io.EOF
		}
		o.change.Wait()
	}
	var n int
	if len(o.small) > 0 {
		n = copy(b, o.small)
		o.small = o.small[:copy(o.small, o.small[n:])]
	} else {
		n = copy(b, o.large)
		o.large = o.large[n:]
	}
	o.change.Broadcast()
	return n, nil
}

// end is called by the writers' side, once they are done.
func (o *outbox) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.change.Broadcast()
}

// close is called by the reader, who reads no more.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unread = true
	o.change.Broadcast()
}
