package harden

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/bir-run/bir/sandbox/guard/guardtest"
)

// filled is the memory after the pieces were put into it, one after the other.
func filled(t *testing.T, body []byte, size int) []byte {
	t.Helper()
	pieces, ok := readPieces(body)
	if !ok {
		t.Fatalf("no data section: %x", body)
	}
	memory := make([]byte, size)
	for _, p := range pieces {
		copy(memory[p.at:], p.bytes)
	}
	return memory
}

func TestJoinedDataFillsTheSameMemory(t *testing.T) {
	const size = 4096
	random := rand.New(rand.NewPCG(1, 2))
	shorter := 0
	for range 2000 {
		var pieces []piece
		for range random.IntN(8) {
			p := piece{at: uint32(random.IntN(size - 100)), bytes: make([]byte, random.IntN(100))}
			for i := range p.bytes {
				p.bytes[i] = byte(random.Uint32())
			}
			pieces = append(pieces, p)
		}
		body := writePieces(pieces)
		joined := joinData(body)
		if !bytes.Equal(filled(t, body, size), filled(t, joined, size)) {
			t.Fatalf("%x became %x", body, joined)
		}
		if joined[0] < body[0] {
			shorter++
		}
	}
	if shorter < 100 {
		t.Errorf("only %d of the sections were joined: the test tests little", shorter)
	}
}

func TestPlaceOfDataKeepsItsSign(t *testing.T) {
	pieces := []piece{{0, []byte("a")}, {1 << 20, []byte("b")}, {0x7fffffff, []byte("c")}, {0xfffffff0, []byte("d")}}
	got, ok := readPieces(joinData(writePieces(pieces)))
	if !ok || len(got) != len(pieces) {
		t.Fatalf("%+v", got)
	}
	for i, p := range pieces {
		if got[i].at != p.at || !bytes.Equal(got[i].bytes, p.bytes) {
			t.Errorf("%+v became %+v", p, got[i])
		}
	}
}

// Code that names pieces by their numbers would find others.
func TestNumberedDataIsNotJoined(t *testing.T) {
	m := guardtest.Reactor(guardtest.Allow)
	m.Data = append(m.Data, guardtest.Data{At: guardtest.VerdictAt + 20, Bytes: []byte("near")})
	for numbered, want := range map[bool]int{false: 1, true: 2} {
		hardened, err := Module(withDataCount(m.Bytes(), numbered), testPages)
		if err != nil {
			t.Fatal(err)
		}
		if got := countData(t, hardened); got != want {
			t.Errorf("numbered %v: %d pieces, want %d", numbered, got, want)
		}
	}
}

// withDataCount puts the section with the number of pieces before the code.
func withDataCount(module []byte, wanted bool) []byte {
	out := append([]byte{}, module[:8]...)
	for r := (reader{data: module[8:]}); len(r.data) > 0; {
		before := r.data
		id := r.byte()
		r.take(r.uint32())
		if wanted && id == sectionCode {
			out = append(out, sectionDataCount, 1, 2)
		}
		out = append(out, before[:len(before)-len(r.data)]...)
	}
	return out
}

func countData(t *testing.T, module []byte) int {
	t.Helper()
	for r := (reader{data: module[8:]}); len(r.data) > 0; {
		id := r.byte()
		body := reader{data: r.take(r.uint32())}
		if id == sectionData {
			return int(body.uint32())
		}
	}
	t.Fatal("no data")
	return 0
}
