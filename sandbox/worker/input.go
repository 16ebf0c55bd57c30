package worker

import (
	"io"
	"sync"

	"github.com/bir-run/bir/sandbox/wire"
)

// input reads requests. While a body runs for long it reads the next one ahead, and
// so sees that the pool is gone; for a short one that would cost a goroutine's
// wake-up, which is a good part of a small evaluation.
type input struct {
	in       io.Reader
	maxBytes int64
	ended    func(error) // told of an end that comes during an evaluation

	mu    sync.Mutex   // guards busy and ahead
	busy  bool         // an evaluation is under way: nobody else reads
	ahead chan request // one is being read
}

type request struct {
	*wire.Request
	err error
}

func (i *input) next() (*wire.Request, error) {
	i.mu.Lock()
	ahead := i.ahead
	i.ahead, i.busy = nil, false
	i.mu.Unlock()
	var r request
	if ahead != nil {
		r = <-ahead
	} else {
		r = i.read()
	}
	i.mu.Lock()
	i.busy = true
	i.mu.Unlock()
	return r.Request, r.err
}

func (i *input) read() request {
	r := request{Request: new(wire.Request)}
	r.err = wire.Read(i.in, i.maxBytes, r.Request)
	return r
}

// readAhead starts to read the next request. It does nothing when one is being
// read, or when the evaluation that asks for it is over.
func (i *input) readAhead() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.busy || i.ahead != nil {
		return
	}
	ahead := make(chan request, 1)
	i.ahead = ahead
	go func() { // ends with the read, or with the process
		r := i.read()
		if r.err != nil {
			i.ended(r.err)
		}
		ahead <- r
	}()
}
