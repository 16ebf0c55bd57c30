package web

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/relay/budget"
)

// A hundred answers of 1 MiB at once, to a host that reads them one by one. The
// budget is made as much smaller as they are.
func TestMemoryStaysBoundedWithManyLargeAnswers(t *testing.T) {
	const n, size = 100, 1 << 20
	text := strings.Repeat("x", size)
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if strings.Contains(body, "stream") {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, `data: {"jsonrpc":"2.0","id":`+idOf(body)+`,"result":"`)
			io.WriteString(w, text)
			io.WriteString(w, "\"}\n\n")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+idOf(body)+`,"result":"`)
		io.WriteString(w, text)
		io.WriteString(w, `"}`)
	})
	up, err := Open(t.Context(), Config{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	up.memory = budget.New(8 << 20)
	defer up.Close()
	defer up.Stop()
	for i := range n {
		kind := []string{"json", "stream"}[i%2]
		if _, err := io.WriteString(up, `{"jsonrpc":"2.0","id":`+strconv.Itoa(i)+`,"method":"`+kind+`"}`+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	var most uint64
	for got, buf := 0, make([]byte, 64<<10); got < n; {
		k, err := up.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		ended := bytes.Count(buf[:k], []byte("\n"))
		if got += ended; ended > 0 && got%4 == 0 { // collecting is slow, and what is kept is kept for longer
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
	}
	if limit := uint64(60 << 20); most > limit {
		t.Errorf("%d MiB in use, want at most %d", most>>20, limit>>20)
	}
	t.Logf("%d MiB in use at most, for %d MiB of answers", most>>20, n*size>>20)
}

// A host that does not read stops us from reading.
func TestStalledHostStopsTheServer(t *testing.T) {
	blocked := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header().Set("Content-Type", "text/event-stream")
		event := []byte(`data: {"jsonrpc":"2.0","method":"x","params":"` + strings.Repeat("x", 1<<20) + "\"}\n\n")
		for range 64 {
			http.NewResponseController(w).SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			if _, err := w.Write(event); err != nil {
				close(blocked)
				return
			}
		}
		t.Error("64 MiB were taken for a host that reads nothing")
	})
	up, err := Open(t.Context(), Config{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(up, call1+"\n")
	select {
	case <-blocked:
	case <-time.After(patience):
		t.Fatal("nothing stopped the server")
	}
	up.Close() // the host is gone
	up.Stop()
}

// FuzzOneLine holds that only white space between tokens changes.
func FuzzOneLine(f *testing.F) {
	for _, s := range []string{"{\n \"a\": [1,\r\n2.0]\r}\n", `{"a":"\n\u2028"}`, "\n\n", "[\n]\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := oneLine([]byte(text))
		if bytes.IndexByte(got, '\n') >= 0 {
			t.Fatalf("%q has a line end", got)
		}
		if !json.Valid([]byte(text)) {
			return
		}
		var want, have bytes.Buffer
		if json.Compact(&want, []byte(text)) != nil || json.Compact(&have, got) != nil || !bytes.Equal(want.Bytes(), have.Bytes()) {
			t.Errorf("%q became %q", text, got)
		}
	})
}
