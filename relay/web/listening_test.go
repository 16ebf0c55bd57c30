package web

import (
	"net/http"
	"sync/atomic"
	"testing"
)

// TestTheServerCanSpeakBeforeTheFirstCallComes holds the order that a server relies on
// which asks something in the middle of a call: without a stream it can only drop it.
func TestTheServerCanSpeakBeforeTheFirstCallComes(t *testing.T) {
	for range 30 {
		var listening atomic.Bool
		s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
			switch {
			case r.Method == http.MethodGet:
				listening.Store(true)
				stream(w)
				<-r.Context().Done()
			case methodOf(body) == "tools/call" && !listening.Load():
				t.Error("the call came before the stream")
				fallthrough
			default:
				echo(w, r, body)
			}
		})
		h := wrap(t, Config{URL: s.URL})
		h.say(hello)
		h.wants(hi0)
		h.say(ready, call1)
		h.wants(done1)
		h.up.Stop()
	}
}
