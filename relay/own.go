package relay

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	caller "github.com/bir-run/bir/relay/call"
	"github.com/bir-run/bir/relay/jsonrpc"
)

// maxOwnBytes is the longest line that is held back until its id is known, while a
// call of ours is under way. A longer one goes to the host, which knows no such id.
const maxOwnBytes = 128 << 20

var errNotOpen = errors.New("the conversation is not open")

// own is our part in the conversation: the calls that the control server wants made
// (R5). Their requests go in between the lines of the host, and their answers are
// taken out of what the upstream says.
type own struct {
	// open counts calls whose answer has not come. One that was given up may never have
	// one, and then lines are held until the upstream has ended, which costs little.
	open atomic.Int64

	mu      sync.Mutex // guards all below, and changes of open
	client  *caller.Client
	answers *io.PipeWriter // what the client reads
	over    bool           // there will be no other upstream
}

// Call calls a tool of the upstream on the host's connection. The host gets to see
// neither the call nor the answer, and no report is made of it. The errors are those
// of package call.
func (r *Relay) Call(ctx context.Context, tool string, args json.RawMessage) (json.RawMessage, error) {
	modern, opened := r.handshake.era()
	if !opened {
		return nil, &caller.NotSentError{Cause: errNotOpen}
	}
	client := r.own.join(r.feed, r.cfg.Self, modern)
	if client == nil {
		return nil, &caller.NotSentError{Cause: caller.ErrEnded}
	}
	result, err := client.Call(ctx, tool, args)
	var unsent *caller.NotSentError
	if errors.As(err, &unsent) {
		r.own.settle() // nothing will come
	}
	return result, err
}

// isOwn says whether a line is the answer to a call of ours. A host that uses such an
// id itself keeps its answers.
func (r *Relay) isOwn(m jsonrpc.Message) bool {
	if m.Kind != jsonrpc.Response || m.Cut || !caller.Ours(m.ID) {
		return false
	}
	key, _ := jsonrpc.Key(m.ID)
	return !r.table.has(key)
}

// join returns the client of the upstream that is there now, for one call; nil when the
// last has ended.
func (o *own) join(to *feed, self caller.Info, modern bool) *caller.Client {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return nil
	}
	o.open.Add(1)
	if o.client == nil {
		answers, w := io.Pipe()
		o.answers = w
		o.client = caller.Join(ownWire{answers, to}, self, modern)
	}
	return o.client
}

// underWay says whether an answer to us may come.
func (o *own) underWay() bool { return o.open.Load() > 0 }

// deliver hands an answer to the client, which reads at once.
func (o *own) deliver(m jsonrpc.Message) {
	if to := o.settle(); to != nil {
		_, _ = to.Write(m.Raw) // fails when the upstream has ended
	}
}

// settle takes one call off those whose answer may come.
func (o *own) settle() *io.PipeWriter {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open.Load() > 0 { // an upstream may answer what nobody asked
		o.open.Add(-1)
	}
	return o.answers
}

// end tells the calls that wait that the upstream has ended.
func (o *own) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endLocked()
}

func (o *own) endLocked() {
	o.open.Store(0)
	if o.client != nil {
		o.answers.Close()
	}
	o.client, o.answers = nil, nil
}

// close says that there will be no other upstream.
func (o *own) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endLocked()
	o.over = true
}

// ownWire is how the client speaks: between the lines of the host.
type ownWire struct {
	io.Reader
	to *feed
}

func (w ownWire) Write(line []byte) (int, error) {
	err := w.to.insert(line)
	switch {
	case errors.Is(err, io.ErrClosedPipe): // there is no upstream, so none of it went
		return 0, &caller.NotSentError{Cause: err}
	case err != nil:
		return 0, err
	}
	return len(line), nil
}

// CloseWrite does nothing: the upstream's input is the host's to end.
func (ownWire) CloseWrite() error { return nil }
