package sse

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// seen is what a reader said of a whole stream.
type seen struct {
	Events []string // type, bar, data
	LastID string
	Retry  time.Duration
}

func readAll(t *testing.T, r *Reader) seen {
	t.Helper()
	var s seen
	for {
		e, err := r.Next()
		if err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			s.LastID = r.LastEventID()
			s.Retry, _ = r.Retry()
			return s
		}
		s.Events = append(s.Events, e.Type+"|"+string(e.Data))
	}
}

func TestStreamsAreReadByTheStandard(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   seen
	}{
		"one event":              {"data: x\n\n", seen{Events: []string{"|x"}}},
		"type and id":            {"event: endpoint\nid: 7\ndata: /m\n\n", seen{Events: []string{"endpoint|/m"}, LastID: "7"}},
		"message is the default": {"event: message\ndata: x\n\n", seen{Events: []string{"|x"}}},
		"several data lines":     {"data: {\ndata:  1\ndata: }\n\n", seen{Events: []string{"|{\n 1\n}"}}},
		"no space":               {"data:x\n\ndata:  y\n\n", seen{Events: []string{"|x", "| y"}}},
		"only one space goes":    {"data:\tx\n\n", seen{Events: []string{"|\tx"}}},
		"carriage returns":       {"data: x\r\rdata: y\r\r", seen{Events: []string{"|x", "|y"}}},
		"both":                   {"data: x\r\n\r\ndata: y\r\n\r\n", seen{Events: []string{"|x", "|y"}}},
		"mixed ends":             {"data: x\r\n\ndata: y\n\rdata: z\r\r\n", seen{Events: []string{"|x", "|y", "|z"}}},
		"comments":               {": ping\n\n:\n\ndata: x\n: in between\n\n", seen{Events: []string{"|x"}}},
		"a priming event":        {"id: 1\ndata: \n\ndata: x\n\n", seen{Events: []string{"|", "|x"}, LastID: "1"}},
		"data without a colon":   {"data\n\ndata\ndata\n\n", seen{Events: []string{"|", "|\n"}}},
		"an id alone":            {"id: 9\n\n", seen{LastID: "9"}},
		"an id stays":            {"id: 9\ndata: x\n\ndata: y\n\n", seen{Events: []string{"|x", "|y"}, LastID: "9"}},
		"an id is taken back":    {"id: 9\ndata: x\n\nid\ndata: y\n\n", seen{Events: []string{"|x", "|y"}}},
		"an id with NUL":         {"id: 9\ndata: x\n\nid: a\x00b\n\n", seen{Events: []string{"|x"}, LastID: "9"}},
		"an id of a cut event":   {"id: 9\ndata: x\n\nid: 10\ndata: y\n", seen{Events: []string{"|x"}, LastID: "9"}},
		"retry":                  {"retry: 1500\n\n", seen{Retry: 1500 * time.Millisecond}},
		"retry at once":          {"retry: 20\ndata: x", seen{Retry: 20 * time.Millisecond}},
		"no retry":               {"retry: 1s\nretry: -1\nretry:\n\n", seen{}},
		"retry without end":      {"retry: 99999999999999999999\n\n", seen{Retry: maxRetry}},
		"unknown fields":         {"foo: bar\ndatax: y\ndata: x\n x: y\n\n", seen{Events: []string{"|x"}}},
		"a type without data":    {"event: gone\n\ndata: x\n\n", seen{Events: []string{"|x"}}},
		"an event cut short":     {"data: x\n\ndata: y\n", seen{Events: []string{"|x"}}},
		"a byte order mark":      {"\xef\xbb\xbfdata: x\n\n", seen{Events: []string{"|x"}}},
		"line separators stay":   {"data: a\u2028b\u0085\n\n", seen{Events: []string{"|a\u2028b\u0085"}}},
		"nothing":                {"", seen{}},
	} {
		for _, split := range []func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader,
		} {
			got := readAll(t, &Reader{Source: split(strings.NewReader(c.stream))})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

func TestLargeEventIsHandedOverInPieces(t *testing.T) {
	var over bytes.Buffer
	big := strings.Repeat("x", 100_000)
	r := Reader{Source: strings.NewReader("data: " + big + "\ndata: y\n\ndata: z\n\n"), MaxBytes: 1000,
		Over: func(piece []byte) { over.Write(piece) }}
	e, err := r.Next()
	if err != nil || !e.Cut || e.Size != len(big)+2 || len(e.Data) > 0 {
		t.Errorf("cut %v, size %d, %d bytes kept, %v", e.Cut, e.Size, len(e.Data), err)
	}
	if over.String() != big+"\ny" {
		t.Errorf("%d bytes were handed over", over.Len())
	}
	if e, err := r.Next(); err != nil || e.Cut || string(e.Data) != "z" {
		t.Errorf("the next event is %q, %v", e.Data, err)
	}
}

func TestMemoryIsAskedForFirst(t *testing.T) {
	refused := errors.New("no")
	asked := 0
	r := Reader{Source: strings.NewReader("data: " + strings.Repeat("x", 200_000) + "\n\n"),
		Grow: func(n int) error {
			if asked = n; n > 100_000 {
				return refused
			}
			return nil
		}}
	if _, err := r.Next(); err != refused || asked <= 100_000 {
		t.Errorf("%v after %d bytes", err, asked)
	}
	if _, err := r.Next(); err != refused {
		t.Errorf("the stream went on: %v", err)
	}
}

func TestResetForgetsTheStreamBefore(t *testing.T) {
	r := Reader{Source: strings.NewReader("id: 1\nretry: 5\ndata: x\n\nid: 2\nevent: a\ndata: y")}
	readAll(t, &r)
	r.Reset(strings.NewReader("\xef\xbb\xbfdata: z\n\n"))
	if diff := cmp.Diff(seen{Events: []string{"|z"}}, readAll(t, &r)); diff != "" {
		t.Error(diff)
	}
}

func TestErrorOfTheSourceComesAfterItsEvents(t *testing.T) {
	r := Reader{Source: io.MultiReader(strings.NewReader("data: x\n\ndata: y"), iotest.ErrReader(io.ErrUnexpectedEOF))}
	if e, err := r.Next(); err != nil || string(e.Data) != "x" {
		t.Errorf("%q, %v", e.Data, err)
	}
	if _, err := r.Next(); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}

// FuzzAnySplitGivesTheSameEvents reads a stream in one piece, byte by byte and cut
// at two places, and reads back what it would write for the events.
func FuzzAnySplitGivesTheSameEvents(f *testing.F) {
	for _, s := range []string{
		"id: 1\ndata: \n\nevent: message\nid: 2\ndata: {\"a\":1}\n\n", "data: x\r\n\r\n\r\rdata\n\n", ": c\nretry: 10\n\ndata:a\ndata: b\n\n",
	} {
		f.Add([]byte(s), 3, 9)
	}
	f.Fuzz(func(t *testing.T, stream []byte, a, b int) {
		whole := readAll(t, &Reader{Source: bytes.NewReader(stream)})
		single := readAll(t, &Reader{Source: iotest.OneByteReader(bytes.NewReader(stream))})
		if diff := cmp.Diff(whole, single); diff != "" {
			t.Errorf("byte by byte: %s", diff)
		}
		a, b = min(max(a, 0), len(stream)), min(max(b, 0), len(stream))
		a, b = min(a, b), max(a, b)
		cut := io.MultiReader(bytes.NewReader(stream[:a]), bytes.NewReader(stream[a:b]), bytes.NewReader(stream[b:]))
		if diff := cmp.Diff(whole, readAll(t, &Reader{Source: cut})); diff != "" {
			t.Errorf("cut at %d and %d: %s", a, b, diff)
		}
		var again strings.Builder
		for _, e := range whole.Events {
			kind, data, _ := strings.Cut(e, "|")
			again.WriteString("event: " + kind + "\ndata: " + strings.ReplaceAll(data, "\n", "\ndata: ") + "\n\n")
		}
		if back := readAll(t, &Reader{Source: strings.NewReader(again.String())}); !hasBar(whole.Events) {
			if diff := cmp.Diff(whole.Events, back.Events); diff != "" {
				t.Errorf("written and read again: %s", diff)
			}
		}
	})
}

// hasBar says whether a type contains what this test cuts at.
func hasBar(events []string) bool {
	for _, e := range events {
		if strings.Count(e, "|") > 1 {
			return true
		}
	}
	return false
}

func BenchmarkOneMebibyteEvent(b *testing.B) {
	stream := []byte("event: message\ndata: " + strings.Repeat("x", 1<<20) + "\n\n")
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	var r Reader
	for b.Loop() {
		r.Reset(bytes.NewReader(stream))
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}
