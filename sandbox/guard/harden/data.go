package harden

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// maxGap is how many zeros between two pieces of data are written out to join them.
// The Go linker leaves out every short run of zeros, which makes forty thousand
// pieces of a small program, and each costs more than the zeros when an instance is
// made.
const maxGap = 64

// piece is a piece of data at a fixed place in the memory.
type piece struct {
	at    uint32
	bytes []byte
}

// joinData joins the pieces of a data section that lie close together. Memory is
// zero before, so the zeros between them change nothing, and their order does not
// matter, as long as no two overlap. Where any do, the section stays as it is.
func joinData(body []byte) []byte {
	pieces, ok := readPieces(body)
	if !ok {
		return body
	}
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Compare(a.at, b.at) })
	var joined []piece
	end := uint64(0)
	for _, next := range pieces {
		if uint64(next.at) < end {
			return body
		}
		gap := uint64(next.at) - end
		end = uint64(next.at) + uint64(len(next.bytes))
		if len(joined) == 0 || gap > maxGap {
			joined = append(joined, piece{next.at, slices.Clone(next.bytes)})
			continue
		}
		last := &joined[len(joined)-1]
		last.bytes = append(append(last.bytes, make([]byte, gap)...), next.bytes...)
	}
	return writePieces(joined)
}

// readPieces gives the pieces; ok is false when one is not put at a constant place in
// the only memory.
func readPieces(body []byte) (pieces []piece, ok bool) {
	r := reader{data: body}
	for range r.uint32() {
		if r.byte() != 0 || r.byte() != opI32Const {
			return nil, false
		}
		p := piece{at: uint32(r.signed())}
		if r.byte() != opEnd {
			return nil, false
		}
		p.bytes = r.take(r.uint32())
		if r.failed {
			return nil, false
		}
		pieces = append(pieces, p)
	}
	return pieces, len(r.data) == 0
}

func writePieces(pieces []piece) []byte {
	out := binary.AppendUvarint(nil, uint64(len(pieces)))
	for _, p := range pieces {
		out = append(out, 0, opI32Const)
		out = append(appendSigned(out, int32(p.at)), opEnd)
		out = append(binary.AppendUvarint(out, uint64(len(p.bytes))), p.bytes...)
	}
	return out
}

const (
	opEnd      = 0x0b
	opI32Const = 0x41
)

// signed reads an i32, which has at most five bytes.
func (r *reader) signed() int32 {
	var v int64
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				v -= 1 << (shift + 7)
			}
			if v != int64(int32(v)) {
				r.failed = true
			}
			return int32(v)
		}
	}
	r.failed = true
	return 0
}

func appendSigned(out []byte, v int32) []byte {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}
