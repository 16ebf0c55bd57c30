package web

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
)

// TestEveryRequestEndsOnce says many requests at once to a server that answers in
// every way there is, forgets its session now and then, and loses connections.
func TestEveryRequestEndsOnce(t *testing.T) {
	const n = 400
	k := newKeeper()
	k.gets = make(chan struct{}, 1<<16)
	k.hello = func(w http.ResponseWriter, body string) {
		answerJSON(w, `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`)
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		id := gjson.Get(body, "id").Int()
		if last := r.Header.Get(headerLastEventID); last != "" {
			stream(w)("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n\n", last)
			return
		}
		k.mu.Lock()
		known := r.Header.Get(headerSession) == k.known
		if known && rand.IntN(40) == 0 {
			k.known = "gone"
		}
		k.mu.Unlock()
		if id == 0 || methodOf(body) == "" || !known {
			k.answer(w, r, body)
			return
		}
		inEveryWay(w, id)
	})
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready)
	var saying sync.WaitGroup
	for part := range 4 {
		saying.Go(func() {
			for i := part + 1; i <= n; i += 4 {
				h.say(`{"jsonrpc":"2.0","id":` + strconv.Itoa(i) + `,"method":"tools/call","params":{}}`)
			}
		})
	}
	ended := map[int64]int{}
	for len(ended) < n {
		line := h.hear()
		if methodOf(line) != "" {
			continue
		}
		id := gjson.Get(line, "id").Int()
		if ended[id]++; ended[id] > 1 {
			t.Errorf("request %d ended twice: %s", id, line)
		}
		// A session that is forgotten twice in a row is not renewed twice.
		if failed := gjson.Get(line, "error.message").Str; id%8 < 3 && failed != "" && !strings.Contains(failed, "HTTP 404") {
			t.Errorf("request %d: %s", id, line)
		}
	}
	saying.Wait()
	h.up.Stop()
	for line := range h.heard {
		if methodOf(line) == "" {
			t.Errorf("said after the end: %s", line)
		}
	}
}

// inEveryWay answers request id in one of eight ways, of which the first three are
// good.
func inEveryWay(w http.ResponseWriter, id int64) {
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, id)
	switch id % 8 {
	case 0:
		answerJSON(w, answer+"\n")
	case 1:
		stream(w)("data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\ndata: %s\n\n", answer)
	case 2:
		stream(w)("id: %d\nretry: 1\ndata: \n\n", id)
	case 3:
		w.WriteHeader(http.StatusInternalServerError)
	case 4:
		panic(http.ErrAbortHandler)
	case 5:
		w.WriteHeader(http.StatusAccepted)
	case 6:
		stream(w)("data: " + answer[:20])
		panic(http.ErrAbortHandler)
	case 7:
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32602,"message":"no"}}`, id))
	}
}
