package relay

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzSeam holds that lines of ours never stand inside a line of the stream, that the
// stream is whole beside them, and that none of ours is lost once the line under way
// has ended.
func FuzzSeam(f *testing.F) {
	f.Add([]byte("{\"a\":1}\n{\"b\"\n:2}\nrest"), []byte{3, 0, 9, 1})
	f.Add([]byte("\n\n"), []byte{0, 0, 0})
	f.Fuzz(func(t *testing.T, stream, sizes []byte) {
		if bytes.Contains(stream, []byte("OURS")) {
			return
		}
		var out bytes.Buffer
		s := seam{to: &out}
		inserted := 0
		for left := stream; len(left) > 0; {
			size := len(left)
			if len(sizes) > 0 {
				size = min(size, 1+int(sizes[0]>>1))
				if sizes[0]&1 == 1 {
					_ = s.insert([]byte("OURS\n"))
					inserted++
				}
				sizes = sizes[1:]
			}
			n, err := s.Write(left[:size])
			if n != size || err != nil {
				t.Fatalf("wrote %d of %d: %v", n, size, err)
			}
			left = left[size:]
		}
		cut := s.midLine
		_ = s.endLine()
		got := out.String()
		if n := strings.Count(got, "OURS\n"); n != inserted {
			t.Fatalf("%d of our %d lines are there: %q", n, inserted, got)
		}
		for line := range strings.Lines(got) {
			if strings.Contains(line, "OURS") && line != "OURS\n" {
				t.Fatalf("ours stands inside %q", line)
			}
		}
		rest := strings.ReplaceAll(got, "OURS\n", "")
		if want := string(stream); rest != want && !(cut && rest == want+"\n") {
			t.Fatalf("the stream became %q, not %q", rest, want)
		}
	})
}

func TestAFeedWaitsForTheNextUpstreamAndSkipsWhatTheLastBegan(t *testing.T) {
	var first, second bytes.Buffer
	f := newFeed(&first, true)
	_, _ = f.Write([]byte("one\ntw"))
	f.cut()
	for line, want := range []bool{true, true, false} {
		if got := f.isLost(int64(line)); got != want {
			t.Errorf("line %d: lost %v", line, got)
		}
	}
	done := make(chan struct{})
	go func() { defer close(done); _, _ = f.Write([]byte("o\nthree\n")) }()
	f.resume(&second)
	<-done
	if first.String() != "one\ntw" || second.String() != "three\n" {
		t.Errorf("the first got %q, the second %q", first.String(), second.String())
	}
	f.close()
	if n, err := f.Write([]byte("four\n")); n != 5 || err != nil {
		t.Errorf("without an upstream: %d, %v", n, err)
	}
}
