package post

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/recorder/recordertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(recordertest.Settle(m)) }

// wire is one way to reach a server.
type wire struct {
	name   string
	listen func(t *testing.T) (net.Listener, locate.File)
}

func wires() []wire {
	return []wire{
		{"socket", func(t *testing.T) (net.Listener, locate.File) {
			dir, err := os.MkdirTemp("", "post") // t.TempDir may be too long for a socket
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			path := filepath.Join(dir, "s")
			return listen(t, "unix", path), locate.File{URL: "http://127.0.0.1:1", Socket: path, Token: "secret"}
		}},
		{"IPv4", func(t *testing.T) (net.Listener, locate.File) {
			l := listen(t, "tcp", "127.0.0.1:0")
			return l, locate.File{URL: "http://" + l.Addr().String(), Token: "secret", PID: os.Getpid()}
		}},
		{"IPv6", func(t *testing.T) (net.Listener, locate.File) {
			l := listen(t, "tcp", "[::1]:0")
			return l, locate.File{URL: "http://" + l.Addr().String(), Token: "secret", PID: os.Getpid()}
		}},
	}
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skipf("cannot listen: %v", err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// overEach runs a test over each wire, against net/http.
func overEach(t *testing.T, handler http.HandlerFunc, test func(*testing.T, locate.File)) {
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			l, file := w.listen(t)
			server := &httptest.Server{Listener: l, Config: &http.Server{Handler: handler}}
			server.Start()
			defer server.Close()
			test(t, file)
		})
	}
}

const patience = recordertest.Patience

func soon() time.Time { return time.Now().Add(patience) }

func TestRequestArrivesWhole(t *testing.T) {
	for _, size := range []int{0, 1, copiedBytes, copiedBytes + 1, 5 << 20} {
		sent := bytes.Repeat([]byte("x"), size)
		type request struct{ Method, Path, Token, Type, Body string }
		got := make(chan request, 1)
		overEach(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got <- request{r.Method, r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(body)}
			io.WriteString(w, r.Host)
		}, func(t *testing.T, file locate.File) {
			answer, err := Post(file, "/tool/pre", sent, soon())
			if err != nil {
				t.Fatal(err)
			}
			want := request{"POST", "/tool/pre", "Bearer secret", "application/json", string(sent)}
			if diff := cmp.Diff(want, <-got); diff != "" {
				t.Error(diff)
			}
			if host := strings.TrimPrefix(file.URL, "http://"); answer.Status != 200 || string(answer.Body) != host {
				t.Errorf("status %d, host %s, want %s", answer.Status, answer.Body, host)
			}
		})
	}
}

func TestAnswerIsReadAsNetHTTPSendsIt(t *testing.T) {
	long := strings.Repeat("0123456789", 500_000)
	for name, handler := range map[string]http.HandlerFunc{
		"with its length": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "{}") },
		"in chunks":       func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, long) },
		"flushed": func(w http.ResponseWriter, _ *http.Request) {
			for _, part := range []string{"{", "}"} {
				io.WriteString(w, part)
				w.(http.Flusher).Flush()
			}
		},
		"after hints": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			io.WriteString(w, "{}")
		},
		"without a body": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"a problem":      func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
	} {
		recorded := httptest.NewRecorder()
		handler(recorded, nil)
		t.Run(name, func(t *testing.T) {
			overEach(t, handler, func(t *testing.T, file locate.File) {
				answer, err := Post(file, "/x", []byte("{}"), soon())
				want := Answer{recorded.Code, recorded.Body.Bytes()}
				if name == "after hints" {
					want.Status = 200 // the recorder takes the first for the last
				}
				if diff := cmp.Diff(want, answer, cmp.Comparer(bytes.Equal)); diff != "" || err != nil {
					t.Errorf("error %v: %s", err, diff)
				}
			})
		})
	}
}

func TestServerThatRefusesABodyIsHeard(t *testing.T) {
	overEach(t, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 10))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		}
	}, func(t *testing.T, file locate.File) {
		answer, err := Post(file, "/x", make([]byte, 200<<10), soon())
		if err == nil && answer.Status != http.StatusRequestEntityTooLarge {
			t.Errorf("status %d", answer.Status)
		} // an error is as good: the connection may be reset before the answer is read
	})
}

func TestSilentServerIsLate(t *testing.T) {
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			_, file := w.listen(t) // connects by itself, and says nothing
			// That it comes back at all is what shows that it does not wait for ever.
			if _, err := Post(file, "/x", nil, time.Now().Add(50*time.Millisecond)); !errors.Is(err, ErrLate) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestServerThatReadsNothingIsLate(t *testing.T) {
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			_, file := w.listen(t)
			_, err := Post(file, "/x", make([]byte, 16<<20), time.Now().Add(50*time.Millisecond))
			if !errors.Is(err, ErrLate) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestTimeThatIsUpAsksNobody(t *testing.T) {
	for _, w := range wires() {
		_, file := w.listen(t)
		if _, err := Post(file, "/x", nil, time.Now().Add(-time.Second)); !errors.Is(err, ErrLate) {
			t.Errorf("%s: error %v", w.name, err)
		}
	}
}

func TestNobodyThereIsAway(t *testing.T) {
	const url = "http://127.0.0.1:1" // where nobody but root can listen
	for name, file := range map[string]locate.File{
		"a port that refuses":     {URL: url, PID: os.Getpid()},
		"no socket, nor the port": {URL: url, PID: os.Getpid(), Socket: filepath.Join(t.TempDir(), "none")},
		"a socket path too long":  {URL: url, PID: os.Getpid(), Socket: "/" + strings.Repeat("x", 300)},
		"an address that is none": {URL: "http://example.com:80", PID: os.Getpid()},
		"nothing in the file":     {},
	} {
		if _, err := Post(file, "/x", nil, soon()); !errors.Is(err, ErrAway) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestPortOfADeadServerGetsNoToken: it may be another user's by now.
func TestPortOfADeadServerGetsNoToken(t *testing.T) {
	if !alive(os.Getpid()) || alive(0) || alive(-1) {
		t.Fatal("alive is wrong about this process, or about groups")
	}
	if alive(1 << 30) {
		t.Skip("processes are not asked after here")
	}
	l := listen(t, "tcp", "127.0.0.1:0")
	file := locate.File{URL: "http://" + l.Addr().String(), PID: 1 << 30}
	if _, err := Post(file, "/x", nil, soon()); !errors.Is(err, ErrAway) {
		t.Errorf("error %v", err)
	}
}

func TestPortServesWhereTheSocketIsGone(t *testing.T) {
	l := listen(t, "tcp", "127.0.0.1:0")
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.NotFoundHandler()}}
	server.Start()
	defer server.Close()
	file := locate.File{URL: server.URL, PID: os.Getpid(), Socket: filepath.Join(t.TempDir(), "gone")}
	if answer, err := Post(file, "/x", nil, soon()); err != nil || answer.Status != http.StatusNotFound {
		t.Errorf("status %d, error %v", answer.Status, err)
	}
}

func TestAnswerThatIsNoneIsAnError(t *testing.T) {
	for _, c := range []struct {
		text string
		want error
	}{
		{"", errShort},
		{"HTTP/1.1 200 OK\r\n", errShort},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}", errShort},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", errShort},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n", errGarbage},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n{}", errGarbage},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", errGarbage},
		{"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}", errGarbage},
		{"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n{}", errGarbage},
		{"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n{}", ErrTooLarge},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n{}", ErrTooLarge},
		{"HTTP/2 200\r\n\r\n", errGarbage},
		{"HTTP/1.1 99 No\r\n\r\n", errGarbage},
		{"SSH-2.0-OpenSSH\r\n", errGarbage},
		{"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 20_000), errGarbage},
		{strings.Repeat("x", 100_000), errGarbage},
	} {
		answer, err := readAnswer(strings.NewReader(c.text))
		if !errors.Is(err, c.want) || answer.Body != nil {
			t.Errorf("%.60q: %+v, error %v, want %v", c.text, answer, err, c.want)
		}
	}
}

func TestBodyMayEndWithTheConnection(t *testing.T) {
	answer, err := readAnswer(strings.NewReader("HTTP/1.0 200 OK\r\n\r\n{\"a\":1}"))
	if err != nil || string(answer.Body) != `{"a":1}` {
		t.Errorf("%+v, error %v", answer, err)
	}
}

// FuzzAnswer holds that an answer does not depend on how its bytes come, and that
// what net/http reads whole is read the same.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.0 200 OK\r\n\r\n{}"))
	f.Add([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, err := readAnswer(bytes.NewReader(text))
		split, errSplit := readAnswer(iotest.OneByteReader(bytes.NewReader(text)))
		if diff := cmp.Diff(whole, split); diff != "" || (err == nil) != (errSplit == nil) {
			t.Fatalf("errors %v and %v: %s", err, errSplit, diff)
		}
		if err != nil && whole.Body != nil {
			t.Fatal("an error, and a body with it")
		}
	})
}

func TestSocketIsNotLeftOpen(t *testing.T) {
	l, file := wires()[0].listen(t)
	closed := make(chan error, 1)
	go func() { // ends with the connection it takes
		c, err := l.Accept()
		if err == nil {
			defer c.Close()
			c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
			_, err = io.Copy(io.Discard, c)
		}
		closed <- err
	}()
	if _, err := Post(file, "/x", nil, soon()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Error("the connection stays open")
	}
}
