package regex

import (
	"fmt"
	"strings"
)

// Flags are the letters behind a pattern.
type Flags struct {
	Indices    bool // d
	Global     bool // g
	IgnoreCase bool // i
	Multiline  bool // m
	DotAll     bool // s
	Unicode    bool // u
	Sets       bool // v
	Sticky     bool // y
}

// CodePoints tells whether matching is by code points, not by UTF-16 units.
func (f Flags) CodePoints() bool { return f.Unicode || f.Sets }

// Letters are the flags in the order of the flags property.
func (f Flags) Letters() string {
	var b strings.Builder
	for _, flag := range f.table() {
		if *flag.set {
			b.WriteByte(flag.letter)
		}
	}
	return b.String()
}

type flag struct {
	letter byte
	set    *bool
}

func (f *Flags) table() []flag {
	return []flag{
		{'d', &f.Indices}, {'g', &f.Global}, {'i', &f.IgnoreCase}, {'m', &f.Multiline},
		{'s', &f.DotAll}, {'u', &f.Unicode}, {'v', &f.Sets}, {'y', &f.Sticky},
	}
}

// ParseFlags reads the letters; it gives false for one that is unknown or twice
// there, and for u with v.
func ParseFlags(letters string) (Flags, bool) {
	var f Flags
	table := f.table()
next:
	for i := range len(letters) {
		for _, flag := range table {
			if flag.letter == letters[i] && !*flag.set {
				*flag.set = true
				continue next
			}
		}
		return Flags{}, false
	}
	return f, !(f.Unicode && f.Sets)
}

// SyntaxError is a pattern that is none, in V8's words.
type SyntaxError struct{ Reason string }

func (e *SyntaxError) Error() string { return e.Reason }

// Group is a named group and its numbers: more than one where alternatives share
// a name.
type Group struct {
	Name    string
	Numbers []int
}

// Regex is a compiled pattern. It may be used by several goroutines.
type Regex struct {
	Flags  Flags
	Groups []Group // by the place of their first
	Count  int     // of groups that capture
	// Plain: every engine agrees about this pattern, so that a faster one may run it.
	Plain bool

	code      []inst
	registers int
	begins    *chars // what a match must begin with, nil if anything
}

// Compile reads a pattern of UTF-16 units.
func Compile(pattern []uint16, flags Flags) (re *Regex, err error) {
	defer func() {
		if x := recover(); x != nil {
			refused, ok := x.(*SyntaxError)
			if !ok {
				panic(x)
			}
			re, err = nil, refused
		}
	}()
	p := newParser(pattern, flags)
	tree := p.pattern()
	c := &compiler{flags: flags}
	c.program(tree)
	re = &Regex{
		Flags:     flags,
		Groups:    p.groups,
		Count:     p.count,
		Plain:     !p.special && !nullable(tree), // engines step over empty matches each in its way
		code:      c.code,
		registers: c.registers,
	}
	re.begins = re.first()
	return re, nil
}

// refuse ends the compiling; Compile recovers it.
func refuse(format string, args ...any) {
	panic(&SyntaxError{Reason: fmt.Sprintf(format, args...)})
}
