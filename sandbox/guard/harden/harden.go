// Package harden rewrites WebAssembly modules so that their host can always stop
// them, is never asked for more memory than it gives, and makes instances of them
// quickly. It reads the binary format only as far as that takes, never runs
// anything, and leaves validation to the runtime.
package harden

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Limits on what a module may declare. Tables live in the host's memory, outside
// the module's cap, so they have one of their own. The time to compile a function
// grows with the square of its branches: 128 KiB of nothing else take four seconds
// and 512 KiB three minutes, while the longest in a Go program with a web server and
// a shell parser has 50 KiB.
const (
	maxTableElements = 1 << 16
	maxFunctionBytes = 128 << 10
)

// PageBytes is the size of one page of a module's memory.
const PageBytes = 1 << 16

// Section ids of the binary format.
const (
	sectionCustom = 0
	sectionTable  = 4
	sectionMemory = 5
	sectionCode   = 10
)

var wasmHeader = []byte("\x00asm\x01\x00\x00\x00")

// emptyLoop is `loop end`. wazero looks at the deadline at the head of a loop and
// nowhere else, so a tree of calls that never loops would run on for ever, and the
// host's garbage collector would wait for it. An empty loop at the head of every
// function closes that gap.
var emptyLoop = []byte{0x03, 0x40, 0x0b}

// Module rewrites a module so that the host can always stop it: every function
// starts with a look at the deadline, and no table can grow past its cap. Data that
// lies close together is joined, so that instances are made quickly. Custom sections
// (names, debugging data) go, since nothing here reads them. It follows what it
// changes and what is counted; wazero validates the result.
func Module(module []byte, memoryPages uint32) ([]byte, error) {
	if !slices.Equal(module[:min(len(module), 8)], wasmHeader) {
		return nil, errors.New("it is not a WebAssembly module of version 1 (a component or a text file?)")
	}
	out := append(make([]byte, 0, len(module)+len(module)/64), wasmHeader...)
	numbered := false // the code names pieces of data by their numbers
	for r := (reader{data: module[8:]}); len(r.data) > 0; {
		id := r.byte()
		body := r.take(r.uint32())
		if r.failed {
			return nil, errCutShort
		}
		if id == sectionCustom {
			continue
		}
		numbered = numbered || id == sectionDataCount
		if err := checkCounts(id, body); err != nil {
			return nil, err
		}
		body, err := hardenSection(id, body, memoryPages)
		if err != nil {
			return nil, err
		}
		if id == sectionData && !numbered {
			body = joinData(body)
		}
		out = binary.AppendUvarint(append(out, id), uint64(len(body)))
		out = append(out, body...)
	}
	return out, nil
}

// Custom gives the content of the custom section of that name, nil when the module
// has none. Two of one name are refused: which of them counts would be a guess.
func Custom(module []byte, name string) ([]byte, error) {
	var found []byte
	if len(module) < len(wasmHeader) {
		return nil, errCutShort
	}
	for r := (reader{data: module[len(wasmHeader):]}); len(r.data) > 0; {
		id := r.byte()
		body := reader{data: r.take(r.uint32())}
		if r.failed {
			return nil, errCutShort
		}
		if id != sectionCustom || string(body.take(body.uint32())) != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("it has the section %s twice", name)
		}
		found = append([]byte{}, body.data...)
	}
	return found, nil
}

var errCutShort = errors.New("the module is cut short or damaged; copy it again")

func hardenSection(id byte, body []byte, memoryPages uint32) ([]byte, error) {
	switch id {
	case sectionTable:
		return capTables(body)
	case sectionMemory:
		return body, checkMemory(body, memoryPages)
	case sectionCode:
		return checkDeadlineInCode(body)
	}
	return body, nil
}

func checkDeadlineInCode(body []byte) ([]byte, error) {
	r := reader{data: body}
	count := r.uint32()
	out := binary.AppendUvarint(make([]byte, 0, len(body)+len(body)/64), uint64(count))
	for range count {
		function := reader{data: r.take(r.uint32())}
		whole := function.data
		if len(whole) > maxFunctionBytes {
			return nil, fmt.Errorf("one of its functions has %d KiB and may have %d; split it, or build it with less inlining",
				len(whole)>>10, maxFunctionBytes>>10)
		}
		if n := function.skipLocals(); n > maxLocals {
			return nil, fmt.Errorf("one of its functions has %d local variables and may have %d", n, maxLocals)
		}
		if r.failed || function.failed {
			return nil, errCutShort
		}
		locals := whole[:len(whole)-len(function.data)]
		out = binary.AppendUvarint(out, uint64(len(whole)+len(emptyLoop)))
		out = append(out, locals...)
		out = append(out, emptyLoop...)
		out = append(out, function.data...)
	}
	return append(out, r.data...), nil
}

func capTables(body []byte) ([]byte, error) {
	r := reader{data: body}
	count := r.uint32()
	out := binary.AppendUvarint(nil, uint64(count))
	for range count {
		kind := r.byte()
		least, most, bounded := r.limits()
		if r.failed || kind != 0x70 && kind != 0x6f {
			return nil, errors.New("its tables are of a form that guards may not use; build it for WebAssembly 2.0 or lower")
		}
		if least > maxTableElements {
			return nil, fmt.Errorf("its table starts with more than %d elements", maxTableElements)
		}
		if !bounded || most > maxTableElements {
			most = maxTableElements
		}
		out = append(out, kind, 1)
		out = binary.AppendUvarint(out, uint64(least))
		out = binary.AppendUvarint(out, uint64(most))
	}
	return append(out, r.data...), nil
}

func checkMemory(body []byte, memoryPages uint32) error {
	r := reader{data: body}
	for range r.uint32() {
		least, _, _ := r.limits()
		if r.failed {
			return errors.New("its memory is of a form that guards may not use (shared or 64-bit)")
		}
		if least > memoryPages {
			return fmt.Errorf("it starts with %d KiB of memory and may use %d; build it with less, "+
				`or set "memoryMB" in its JSON file`, least*PageBytes/1024, memoryPages*PageBytes/1024)
		}
	}
	return nil
}

// reader takes the binary format apart. After the first thing that does not fit
// it has failed and gives zeros.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) byte() byte {
	b := r.take(1)
	if len(b) == 0 {
		return 0
	}
	return b[0]
}

func (r *reader) take(n uint32) []byte {
	if r.failed || uint64(n) > uint64(len(r.data)) {
		r.failed = true
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *reader) uint32() uint32 {
	v, n := binary.Uvarint(r.data)
	if r.failed || n <= 0 || n > 5 || v>>32 != 0 {
		r.failed = true
		return 0
	}
	r.data = r.data[n:]
	return uint32(v)
}

// limits reads the bounds of a table or a memory.
func (r *reader) limits() (least, most uint32, bounded bool) {
	form := r.byte()
	least = r.uint32()
	if form == 1 {
		most = r.uint32()
	}
	if form > 1 {
		r.failed = true
	}
	return least, most, form == 1
}

// skipLocals reads the groups of local variables and gives their number.
func (r *reader) skipLocals() (total uint64) {
	for range r.uint32() {
		total += uint64(r.uint32())
		r.valueType()
		if r.failed {
			break
		}
	}
	return total
}
