package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/google/go-cmp/cmp"
)

func TestFrameComesBackAsItWas(t *testing.T) {
	sent := wire.Request{
		Source: "return '<&>\u2028'",
		Args:   []wire.Arg{{Name: "params", JSON: json.RawMessage(`{"a":"<b>"}`)}, {Name: "t", Text: "é\x00\n"}},
		Plain:  true,
		Seed:   1<<64 - 1,
	}
	frame, err := wire.Encode(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got wire.Request
	if err := wire.Read(iotest.OneByteReader(bytes.NewReader(frame)), 1<<20, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Errorf("frame changed (-sent +got):\n%s", diff)
	}
}

func TestFrameOverTheLimitIsNotRead(t *testing.T) {
	r := bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff, '{', '}'})
	if err := wire.Read(r, 1<<20, &wire.Request{}); err == nil {
		t.Fatal("a frame of 4 GB was accepted")
	}
	if r.Len() != 2 {
		t.Errorf("%d bytes of the frame were consumed", 2-r.Len())
	}
}

func TestCutFrameIsToldFromTheEnd(t *testing.T) {
	frame, err := wire.Encode(wire.Hello{Version: wire.Version})
	if err != nil {
		t.Fatal(err)
	}
	for cut := range frame {
		err := wire.Read(bytes.NewReader(frame[:cut]), 1<<20, &wire.Hello{})
		if wantEOF := cut == 0; errors.Is(err, io.EOF) != wantEOF || err == nil {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
}

func FuzzReadNeverReturnsHalfAFrame(f *testing.F) {
	f.Add([]byte{0, 0, 0, 2, '{', '}'}, []byte{0, 0, 0, 9, '{'})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		r := bytes.NewReader(append(a, b...))
		for {
			before := r.Len()
			var resp wire.Response
			if err := wire.Read(r, 64, &resp); err != nil {
				return
			}
			if before-r.Len() < 4 {
				t.Fatal("a frame without a header")
			}
		}
	})
}
