package harden

import (
	"errors"
	"fmt"
)

// Ids of the sections that checkCounts takes apart.
const (
	sectionType    = 1
	sectionImport  = 2
	sectionFunc    = 3
	sectionGlobal  = 6
	sectionExport  = 7
	sectionStart   = 8
	sectionElement = 9
	sectionData    = 11

	sectionDataCount = 12
	sectionLast      = 12
)

// mostItems bounds the items of each section. A Go program with a web server has
// six thousand functions and well under a hundred thousand pieces of data.
var mostItems = map[byte]uint32{
	sectionType: 10_000, sectionImport: 1_000, sectionFunc: 100_000, sectionTable: 16, sectionMemory: 1,
	sectionGlobal: 10_000, sectionExport: 10_000, sectionElement: 10_000, sectionCode: 100_000, sectionData: 250_000,
}

const (
	maxSignature = 1_000  // parameters, and results, of one function
	maxLocals    = 50_000 // of one function
	maxElements  = 100_000
)

// checkCounts refuses a section that announces more than it can hold. wazero makes
// room for what is announced before it reads on, so a file of a hundred bytes
// could ask for all memory of the host, which ends the process.
func checkCounts(id byte, body []byte) error {
	r := reader{data: body}
	if id > sectionLast {
		return fmt.Errorf("it has a section %d, which guards may not have; build it for WebAssembly 2.0 or lower", id)
	}
	if id == sectionStart || id == sectionLast {
		return nil // a single number
	}
	count := r.uint32()
	if count > mostItems[id] {
		return fmt.Errorf("it announces %d items in section %d and may have %d", count, id, mostItems[id])
	}
	for range count {
		if err := r.item(id); err != nil {
			return err
		}
		if r.failed {
			return errCutShort
		}
	}
	return nil
}

// item reads one item of the sections that hold lists inside their items.
func (r *reader) item(id byte) error {
	switch id {
	case sectionType:
		return r.signature()
	case sectionImport:
		r.take(r.uint32())
		r.take(r.uint32())
		return r.importType()
	case sectionExport:
		r.take(r.uint32())
		r.byte()
		r.uint32()
	case sectionElement:
		return r.elements()
	case sectionData:
		form := r.uint32()
		if form == 2 {
			r.uint32()
		}
		if form != 1 {
			r.constant()
		}
		r.take(r.uint32())
	}
	return nil
}

func (r *reader) signature() error {
	if r.byte() != 0x60 {
		return errors.New("it has types other than functions, which guards may not have; build it for WebAssembly 2.0 or lower")
	}
	for range 2 {
		n := r.uint32()
		if n > maxSignature {
			return fmt.Errorf("one of its functions has %d parameters or results and may have %d", n, maxSignature)
		}
		for range n {
			r.valueType()
		}
	}
	return nil
}

// valueType reads a type of WebAssembly 2.0, which is one byte. The longer ones of
// later versions are refused: misreading one would lose step with wazero, and then
// what is counted here would not be what it makes room for.
func (r *reader) valueType() {
	switch r.byte() {
	case 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f: // i32 i64 f32 f64 v128 funcref externref
	default:
		r.failed = true
	}
}

func (r *reader) importType() error {
	switch kind := r.byte(); kind {
	case 0:
		r.uint32()
	case 1:
		r.valueType()
		r.limits()
	case 2:
		r.limits()
	case 3:
		r.valueType()
		r.byte() // whether it can change
	default:
		r.failed = true
	}
	return nil
}

// elements reads one segment for a table, in any of its eight forms.
func (r *reader) elements() error {
	form := r.uint32()
	if form > 7 {
		r.failed = true
		return nil
	}
	if form == 2 || form == 6 {
		r.uint32() // which table
	}
	if form&1 == 0 {
		r.constant() // where
	}
	if form > 4 {
		r.valueType() // of what
	} else if form > 0 && form < 4 && r.byte() != 0 { // functions, the only kind
		r.failed = true
	}
	n := r.uint32()
	if n > maxElements {
		return fmt.Errorf("it fills a table with %d elements and may with %d", n, maxElements)
	}
	for range n {
		if r.failed {
			return nil
		}
		if form < 4 {
			r.uint32()
		} else {
			r.constant()
		}
	}
	return nil
}

// constant skips a constant expression, up to its end.
func (r *reader) constant() {
	for !r.failed {
		switch op := r.byte(); op {
		case 0x0b: // end
			return
		case 0x23, 0x41, 0x42, 0xd2: // global.get, i32.const, i64.const, ref.func
			r.skipNumber()
		case 0x43: // f32.const
			r.take(4)
		case 0x44: // f64.const
			r.take(8)
		case 0xd0: // ref.null
			r.valueType()
		case 0xfd: // v128.const
			if r.byte() != 0x0c {
				r.failed = true
			}
			r.take(16)
		default:
			r.failed = true
		}
	}
}

// skipNumber skips a number of any length and sign.
func (r *reader) skipNumber() {
	for !r.failed && r.byte()&0x80 != 0 {
	}
}
