// Package guardtest makes guard modules for tests, byte by byte, so that a test
// needs no compiler and can build what no compiler would. It knows the little of
// the binary format that guards need and checks nothing.
package guardtest

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
)

// Value types and the opcodes that modules here are made of.
const (
	I32 = 0x7f
	I64 = 0x7e

	Unreachable = 0x00
	Loop        = 0x03
	If          = 0x04
	Else        = 0x05
	End         = 0x0b
	Br          = 0x0c
	Return      = 0x0f
	Drop        = 0x1a
	I32Eqz      = 0x45
	I32GtU      = 0x4b
	I32Add      = 0x6a
	NoResult    = 0x40 // type of a block
)

// Func is a function. The last opcode, End, is added.
type Func struct {
	Export  string // empty: not exported
	Params  []byte
	Results []byte
	Code    []byte
}

// Import is an imported function. Imports come first in the numbering.
type Import struct {
	Module, Name    string
	Params, Results []byte
}

// Data is put into memory at the start.
type Data struct {
	At    uint32
	Bytes []byte
}

// Module is what Bytes encodes.
type Module struct {
	Imports   []Import
	Funcs     []Func
	MinPages  uint32 // of memory, exported as "memory"; 0: no memory
	NoExport  bool   // keep the memory to itself
	TableMin  uint32 // elements; 0: no table
	Start     bool   // run the last function at the start
	Global    bool   // have global 0, a mutable i32 of 0
	Data      []Data
	Custom    []Custom // sections of its own, at the end
	TrailJunk []byte
}

// Custom is a custom section.
type Custom struct{ Name, Text string }

// Bytes is the module in the binary format.
func (m Module) Bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	out = section(out, 1, m.types())
	out = section(out, 2, m.imports())
	out = section(out, 3, m.functions())
	if m.TableMin > 0 {
		out = section(out, 4, [][]byte{append([]byte{0x70, 0}, num(m.TableMin)...)})
	}
	if m.MinPages > 0 {
		out = section(out, 5, [][]byte{append([]byte{0}, num(m.MinPages)...)})
	}
	if m.Global {
		out = section(out, 6, [][]byte{{I32, 1, 0x41, 0, End}})
	}
	out = section(out, 7, m.exports())
	if m.Start {
		body := num(uint32(len(m.Imports) + len(m.Funcs) - 1))
		out = append(append(out, 8), append(num(uint32(len(body))), body...)...)
	}
	out = section(out, 10, m.code())
	out = section(out, 11, m.data())
	for _, c := range m.Custom {
		out = slices.Concat(out, []byte{0}, vector(append(vector([]byte(c.Name)), c.Text...)))
	}
	return append(out, m.TrailJunk...)
}

func (m Module) types() [][]byte {
	var all [][]byte
	add := func(params, results []byte) {
		all = append(all, slices.Concat([]byte{0x60}, vector(params), vector(results)))
	}
	for _, f := range m.Imports {
		add(f.Params, f.Results)
	}
	for _, f := range m.Funcs {
		add(f.Params, f.Results)
	}
	return all
}

func (m Module) imports() [][]byte {
	var all [][]byte
	for i, f := range m.Imports {
		all = append(all, slices.Concat(vector([]byte(f.Module)), vector([]byte(f.Name)), []byte{0}, num(uint32(i))))
	}
	return all
}

func (m Module) functions() [][]byte {
	var all [][]byte
	for i := range m.Funcs {
		all = append(all, num(uint32(len(m.Imports)+i)))
	}
	return all
}

func (m Module) exports() [][]byte {
	var all [][]byte
	if m.MinPages > 0 && !m.NoExport {
		all = append(all, append(vector([]byte("memory")), 2, 0))
	}
	for i, f := range m.Funcs {
		if f.Export != "" {
			all = append(all, slices.Concat(vector([]byte(f.Export)), []byte{0}, num(uint32(len(m.Imports)+i))))
		}
	}
	return all
}

func (m Module) code() [][]byte {
	var all [][]byte
	for _, f := range m.Funcs {
		all = append(all, vector(slices.Concat([]byte{0}, f.Code, []byte{End})))
	}
	return all
}

func (m Module) data() [][]byte {
	var all [][]byte
	for _, d := range m.Data {
		all = append(all, slices.Concat([]byte{0}, Const(int32(d.At)), []byte{End}, vector(d.Bytes)))
	}
	return all
}

// section appends a section of items; one without items is left out.
func section(out []byte, id byte, items [][]byte) []byte {
	if len(items) == 0 {
		return out
	}
	body := num(uint32(len(items)))
	for _, item := range items {
		body = append(body, item...)
	}
	return slices.Concat(out, []byte{id}, vector(body))
}

func vector(data []byte) []byte { return append(num(uint32(len(data))), data...) }

func num(n uint32) []byte { return binary.AppendUvarint(nil, uint64(n)) }

// Const is i32.const n.
func Const(n int32) []byte { return append([]byte{0x41}, signed(int64(n))...) }

// Const64 is i64.const n.
func Const64(n int64) []byte { return append([]byte{0x42}, signed(n)...) }

// Call is call n.
func Call(n uint32) []byte { return append([]byte{0x10}, num(n)...) }

// Param is local.get n.
func Param(n uint32) []byte { return append([]byte{0x20}, num(n)...) }

// Grow is memory.grow, with the number of pages on the stack.
func Grow() []byte { return []byte{0x40, 0} }

// GetGlobal and SetGlobal read and write global 0.
func GetGlobal() []byte { return []byte{0x23, 0} }

// SetGlobal writes global 0.
func SetGlobal() []byte { return []byte{0x24, 0} }

// signed is n in LEB128.
func signed(n int64) []byte {
	var out []byte
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

// Join puts opcodes in a row; each is a byte or a slice of them.
func Join(parts ...any) []byte {
	var out []byte
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			out = append(out, byte(p))
		case []byte:
			out = append(out, p...)
		}
	}
	return out
}

// CacheDir is a folder for compiled code that all tests share, so that the
// built-in modules are compiled once on a machine.
func CacheDir() string { return filepath.Join(os.TempDir(), "bir-test-wazero") }
