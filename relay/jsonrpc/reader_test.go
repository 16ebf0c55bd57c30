package jsonrpc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// pieces is a source that gives its input in reads of the given sizes, over and
// over.
type pieces struct {
	left  []byte
	sizes []byte
	turn  int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := len(p.left)
	if len(p.sizes) > 0 {
		n = min(n, 1+int(p.sizes[p.turn%len(p.sizes)]))
		p.turn++
	}
	n = copy(b, p.left[:n])
	p.left = p.left[n:]
	return n, nil
}

// all reads everything: the bytes in order, and what each line was.
func all(r *Reader) (joined []byte, lines []seen, err error) {
	for {
		m, err := r.Next()
		if err != nil && m.Size == 0 {
			return joined, lines, err
		}
		joined = append(joined, m.Raw...)
		lines = append(lines, see(m))
		if err != nil {
			return joined, lines, err
		}
	}
}

func TestReaderYieldsTheBytesThatCame(t *testing.T) {
	long := `{"id":1,"result":"` + strings.Repeat("é", 200<<10) + `"}`
	for name, in := range map[string]string{
		"lf": "{}\n{}\n", "crlf": "{\"id\":1}\r\n{}\r\n", "blank lines": "\n\n \n\r\n{}\n",
		"noise":      "starting\n{\"a\":1}\nbye\n",
		"U+2028":     "{\"method\":\"a\u2028b\"}\n",
		"over 64KiB": long + "\n" + long + "\n", "no end": "{}\n{\"a\":", "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			got, _, _ := all(&Reader{Source: strings.NewReader(in)})
			if string(got) != in {
				t.Errorf("%d bytes came out of %d", len(got), len(in))
			}
		})
	}
}

func TestReaderTellsACleanEndFromACutOne(t *testing.T) {
	if _, _, err := all(&Reader{Source: strings.NewReader("{}\n")}); err != io.EOF {
		t.Errorf("clean end: %v", err)
	}
	_, lines, err := all(&Reader{Source: strings.NewReader("{}\n{}")})
	if !errors.Is(err, ErrTruncated) || len(lines) != 2 {
		t.Errorf("cut end: %v after %d lines", err, len(lines))
	}
}

func TestReaderPassesOnASourceError(t *testing.T) {
	broken := errors.New("broken")
	source := io.MultiReader(strings.NewReader("{}\n{"), iotest.ErrReader(broken))
	got, _, err := all(&Reader{Source: source})
	if string(got) != "{}\n{" || !errors.Is(err, broken) {
		t.Errorf("got %q and %v", got, err)
	}
}

func TestALineOverTheLimitIsStillForwardedAndNamed(t *testing.T) {
	big := `{"result":{"text":"` + strings.Repeat(`a\"b`, 100<<10) + `"},"id":"late"}` + "\n"
	in := "{}\n" + big + "{\"id\":3,\"result\":1}\n"
	for _, when := range []When{Early, Late, Held} {
		var out bytes.Buffer
		r := &Reader{Source: strings.NewReader(in), Forward: &out, When: when, MaxBytes: 100 << 10}
		_, lines, err := all(r)
		if err != io.EOF {
			t.Fatal(err)
		}
		want := []seen{{Kind: Other}, {Kind: Response, ID: `"late"`}, {Kind: Response, ID: "3", Result: "1"}}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Error(diff)
		}
		if out.String() != in {
			t.Errorf("%d bytes forwarded of %d", out.Len(), len(in))
		}
	}
}

func TestEarlyForwardsBeforeTheLineIsYielded(t *testing.T) {
	var out bytes.Buffer
	r := &Reader{Source: strings.NewReader("{}\n{}\nrest"), Forward: &out}
	if r.Next(); out.String() != "{}\n{}\nrest" {
		t.Errorf("forwarded %q", out.String())
	}
}

func TestLateForwardsOnlyWhenEveryLineWasYielded(t *testing.T) {
	var out bytes.Buffer
	r := &Reader{Source: strings.NewReader("{}\n[]\n"), Forward: &out, When: Late}
	r.Next()
	if r.Next(); out.Len() != 0 {
		t.Errorf("forwarded %q before both lines had been looked at", out.String())
	}
	if r.Next(); out.String() != "{}\n[]\n" {
		t.Errorf("forwarded %q at the end", out.String())
	}
}

func TestAHeldLineCanBeReplaced(t *testing.T) {
	var out bytes.Buffer
	source := &pieces{left: []byte("{\"a\":1}\nold\n{\"b\":2}\nrest"), sizes: []byte{5, 0, 9}}
	r := &Reader{Source: source, Forward: &out, When: Held}
	for {
		m, err := r.Next()
		if string(m.Raw) == "old\n" {
			r.Replace(m, []byte("new line\n"))
		}
		if err != nil {
			break
		}
	}
	if want := "{\"a\":1}\nnew line\n{\"b\":2}\nrest"; out.String() != want {
		t.Errorf("forwarded %q, want %q", out.String(), want)
	}
}

func TestOfAnswersOverTheBufferOnlyTheWantedAreKept(t *testing.T) {
	answer := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"result":"` + strings.Repeat("x", 300<<10) + `"}` + "\n"
	}
	in := answer("1") + answer("2") + answer("1") + "{\"id\":3,\"result\":7}\n"
	var out bytes.Buffer
	r := &Reader{Source: strings.NewReader(in), Forward: &out, Wanted: func(id []byte) bool { return string(id) == "2" }}
	var kept []string
	for {
		m, err := r.Next()
		if err != nil {
			break
		}
		if !m.HasResult() || m.Kind != Response {
			t.Errorf("an answer was not seen as one: %v", m.Kind)
		}
		if !m.Cut {
			full := Classify(m.Raw)
			kept = append(kept, string(m.ID)+" "+string(full.Result()[:1]))
		}
	}
	if diff := cmp.Diff([]string{`2 "`, `1 "`, `3 7`}, kept); diff != "" {
		t.Error(diff)
	}
	if out.String() != in {
		t.Errorf("%d bytes forwarded of %d", out.Len(), len(in))
	}
}

func TestAnAnswerWhoseIDComesLastIsKept(t *testing.T) {
	in := `{"result":"` + strings.Repeat("x", 300<<10) + `","id":1}` + "\n"
	r := &Reader{Source: strings.NewReader(in), Wanted: func([]byte) bool { return false }}
	if m, err := r.Next(); err != nil || m.Cut || string(m.ID) != "1" || len(m.Raw) != len(in) {
		t.Errorf("cut %v, id %s, %d bytes, %v", m.Cut, m.ID, len(m.Raw), err)
	}
}

func TestAForwardErrorEndsTheStream(t *testing.T) {
	gone := errors.New("gone")
	r := &Reader{Source: strings.NewReader("{}\n"), Forward: brokenWriter{gone}}
	if _, err := r.Next(); err != nil && !errors.Is(err, gone) {
		t.Errorf("first: %v", err)
	}
	if _, err := r.Next(); !errors.Is(err, gone) {
		t.Errorf("then: %v", err)
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestACutMessageKnowsItsSizeAndOutcome(t *testing.T) {
	big := `{"id":1,"result":"` + strings.Repeat("x", 300<<10) + `"}` + "\n"
	m, err := (&Reader{Source: strings.NewReader(big), MaxBytes: 1}).Next()
	if err != nil || !m.Cut || m.Size != len(big) || !m.HasResult() || m.Raw != nil || m.Result() != nil {
		t.Errorf("cut %v, size %d of %d, result %v, err %v", m.Cut, m.Size, len(big), m.HasResult(), err)
	}
}

func TestALargeBufferIsGivenBack(t *testing.T) {
	r := &Reader{Source: strings.NewReader(strings.Repeat("x", 3*keptBytes) + "\n{}\n{}\n")}
	all(r)
	if cap(r.buf) > keptBytes {
		t.Errorf("%d bytes kept after a long line", cap(r.buf))
	}
}

func TestOfALineOverTheBoundOnlyTheHeadIsForwarded(t *testing.T) {
	long := strings.Repeat("y", 300<<10)
	in := "{}\n" + `{"id":1,"result":"` + long + `"}` + "\n[7]\n" + strings.Repeat("z", 64) + "\n" + strings.Repeat("w", 65) + "\r\n{}\n" + strings.Repeat("v", 70)
	want := "{}\n" + (`{"id":1,"result":"` + long)[:64] + "\n[7]\n" + strings.Repeat("z", 64) + "\n" + strings.Repeat("w", 64) + "\n{}\n" + strings.Repeat("v", 64)
	for name, sizes := range map[string][]byte{"whole": nil, "bytes": {0}, "pieces": {250, 3}} {
		var out bytes.Buffer
		r := &Reader{Source: &pieces{left: []byte(in), sizes: sizes}, Forward: &out, MaxForward: 64, MaxBytes: 100 << 10}
		var clipped []string
		for {
			m, err := r.Next()
			if m.Clipped {
				clipped = append(clipped, string(m.ID))
			}
			if err != nil {
				break
			}
		}
		if diff := cmp.Diff([]string{"1", "", ""}, clipped); diff != "" || out.String() != want {
			t.Errorf("%s: %s, forwarded %d bytes: %.300q", name, diff, out.Len(), out.String())
		}
	}
}

func TestAReaderMayStopHoldingLines(t *testing.T) {
	var out bytes.Buffer
	r := &Reader{Source: &pieces{left: []byte("{\"id\":1}\n{}\n[]\nrest of it\n"), sizes: []byte{17, 2}}, Forward: &out, When: Held}
	m, _ := r.Next()
	r.Replace(m, nil)
	r.When = Early
	all(r)
	if want := "{}\n[]\nrest of it\n"; out.String() != want {
		t.Errorf("forwarded %q, want %q", out.String(), want)
	}
}

func FuzzClipping(f *testing.F) {
	f.Add([]byte("{\"id\":1,\"result\":1}\n[1]\r\n\nnoise"), []byte{0}, uint8(3), uint8(1))
	f.Fuzz(func(t *testing.T, in, sizes []byte, most, keep uint8) {
		limit := int(most) + 1
		var want []byte
		for line := range bytes.Lines(in) {
			text, ended := bytes.CutSuffix(line, []byte("\n"))
			want = append(want, text[:min(len(text), limit)]...)
			if ended {
				want = append(want, '\n')
			}
		}
		var out bytes.Buffer
		all(&Reader{Source: &pieces{left: in, sizes: sizes}, Forward: &out, MaxForward: limit, MaxBytes: int(keep)})
		if !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("forwarded %q of %q, want %q", out.Bytes(), in, want)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("{\"id\":1,\"method\":\"m\"}\n[1]\r\n\nnoise\n{\"result\":\"\\\\\\\"\"}"), []byte{0}, uint16(9))
	f.Add([]byte("{\"m\\u0065thod\":\"caf\xc3\xa9\",\"id\":1.0}\n"), []byte{3, 1}, uint16(200))
	f.Fuzz(func(t *testing.T, in, sizes []byte, limit uint16) {
		wantBytes, want, _ := all(&Reader{Source: &pieces{left: in}})
		if !bytes.Equal(wantBytes, in) {
			t.Fatalf("relayed %q for %q", wantBytes, in)
		}
		got, lines, _ := all(&Reader{Source: &pieces{left: in, sizes: sizes}})
		if !bytes.Equal(got, in) {
			t.Fatalf("split: relayed %q for %q", got, in)
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Fatalf("a split changed the messages: %s", diff)
		}
		var unwanted bytes.Buffer
		all(&Reader{Source: &pieces{left: in, sizes: sizes}, Forward: &unwanted, Wanted: func([]byte) bool { return false }})
		if !bytes.Equal(unwanted.Bytes(), in) {
			t.Fatalf("unwanted: forwarded %q for %q", unwanted.Bytes(), in)
		}
		var out bytes.Buffer
		cut := &Reader{Source: &pieces{left: in, sizes: sizes}, MaxBytes: int(limit), Forward: &out, When: When(limit % 3)}
		_, cutLines, _ := all(cut)
		if !bytes.Equal(out.Bytes(), in) {
			t.Fatalf("forwarded %q for %q", out.Bytes(), in)
		}
		for i := range cutLines {
			if cutLines[i].Kind != want[i].Kind || cutLines[i].ID != want[i].ID || cutLines[i].Method != want[i].Method {
				t.Fatalf("a limit changed line %d: %+v, want %+v", i, cutLines[i], want[i])
			}
		}
	})
}

func TestLinesAreHeldWhileSomeoneAsksForIt(t *testing.T) {
	ours := `{"jsonrpc":"2.0","result":{"x":"` + strings.Repeat("y", 300<<10) + `"},"id":"ours"}` + "\n"
	before, after := "{\"a\":1}\n{\"b\"", ":2}\n"+ours+"{\"c\":3}\nrest"
	for _, size := range []byte{0, 1, 6, 100, 255} {
		var out bytes.Buffer
		asked := false
		source := io.MultiReader(strings.NewReader(before), &told{func() { asked = true }}, &pieces{left: []byte(after), sizes: []byte{size}})
		r := &Reader{Source: source, Forward: &out, MaxBytes: 1 << 10, MaxHeld: 1 << 20, Hold: func() bool { return asked }}
		for {
			m, err := r.Next()
			if string(m.ID) == `"ours"` {
				if m.Cut {
					t.Fatal("cut over the smaller limit")
				}
				r.Replace(m, nil)
			}
			if err != nil {
				break
			}
		}
		if want := "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\nrest"; out.String() != want {
			t.Errorf("pieces of %d: forwarded %q", size+1, out.String())
		}
	}
}

// told says when it is read, and has ended.
type told struct{ read func() }

func (s *told) Read([]byte) (int, error) {
	s.read()
	return 0, io.EOF
}

func TestALineThatWentOnBeforeTheHoldIsNotReplaced(t *testing.T) {
	var out bytes.Buffer
	asked := false
	source := io.MultiReader(strings.NewReader("{\"a\""), &told{func() { asked = true }}, strings.NewReader(":1}\n{}\n"))
	r := &Reader{Source: source, Forward: &out, Hold: func() bool { return asked }}
	for {
		m, err := r.Next()
		if len(m.Raw) > 3 {
			r.Replace(m, nil)
		}
		if err != nil {
			break
		}
	}
	if out.String() != "{\"a\":1}\n{}\n" {
		t.Errorf("forwarded %q", out.String())
	}
}
