// Package command tells whether two command lines are the same call: the same
// programs, joined the same way, writing to the same places. It reads both with
// the grammar of their shell and compares what it has read, never the text. What
// it cannot read for sure is the same only as an exact copy. It runs nothing and
// looks at no file.
package command

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Language is the shell that a line is written for.
type Language int

// The languages. Posix takes bash and reads what bash would.
const (
	Posix Language = iota
	PowerShell
)

// Codes of the differences.
const (
	CodeExact      = "pin_exact"      // only an exact copy would be the same call
	CodeProgram    = "pin_program"    // another program or subcommand, or another number of them
	CodeChaining   = "pin_chaining"   // joined in another way
	CodeRedirect   = "pin_redirect"   // reads or writes another place
	CodeEffect     = "pin_option"     // an option that changes what the program does
	CodeWords      = "pin_words"      // a word that must be the same is not
	CodePlace      = "pin_place"      // another host
	CodeAssignment = "pin_assignment" // another variable set for the command
)

// Difference is why two lines are not the same call. Its words name programs and
// options, and no other part of the lines.
type Difference struct{ Code, Words string }

// Compare gives nil when the model's line is the step's call.
func Compare(model, step string, lang Language) *Difference {
	if strings.TrimSpace(model) == strings.TrimSpace(step) {
		return nil
	}
	parser := parsers.Get().(*syntax.Parser)
	defer parsers.Put(parser)
	r := reader{lang: lang, parser: parser}
	want := r.read(step)
	if want.exact != "" {
		return &Difference{CodeExact, "the step " + want.exact + ", so only an exact copy of its command is the step"}
	}
	have := r.read(model)
	if have.exact != "" {
		return &Difference{CodeExact, "the call " + have.exact + ", so it is the step only where it is an exact copy"}
	}
	return firstDifference(have.parts, want.parts)
}

// kind is what a part of an outline says.
type kind int

const (
	program   kind = iota // a program with what belongs to its name
	joint                 // &&, ||, |, ;, &, or a structure such as ( )
	effect                // an option that changes what the program does
	redirect              // an operator and its target
	fixed                 // words that must be the same
	place                 // the host of a URL
	variables             // an assignment
	operands              // words that must be the same where the model gives any
)

// part is one thing that two lines must have in common, in order.
type part struct {
	kind kind
	text string
}

// outline is what a line comes down to. exact says why the line cannot be
// compared by its outline, as the end of a sentence about it.
type outline struct {
	parts []part
	exact string
}

func (o *outline) add(k kind, text string) { o.parts = append(o.parts, part{k, text}) }

// demandExact keeps the first reason.
func (o *outline) demandExact(why string) {
	if o.exact == "" {
		o.exact = why
	}
}

// parsers are kept, since making one costs as much as reading a short line.
var parsers = sync.Pool{New: func() any { return syntax.NewParser() }}

// reader reads lines of one language.
type reader struct {
	lang   Language
	parser *syntax.Parser
}

func (r reader) read(line string) outline {
	if len(line) > maxLineBytes {
		return outline{exact: "is longer than 64 KiB"}
	}
	if r.lang == PowerShell {
		return readPowerShell(line)
	}
	p := &posixReader{parser: r.parser, outline: outline{parts: make([]part, 0, 12)}}
	p.script(line)
	return p.outline
}

const maxLineBytes = 64 << 10

func firstDifference(have, want []part) *Difference {
	for i := range max(len(have), len(want)) {
		switch {
		case i == len(want):
			return different(have[i], "goes on with "+have[i].show()+" where the step has ended")
		case i == len(have):
			return different(want[i], "ends where the step goes on with "+want[i].show())
		case have[i] != want[i] && !left(have[i], want[i]):
			return mismatch(have[i], want[i])
		}
	}
	return nil
}

// left tells that the model leaves the operands, or the place, to the step.
func left(have, want part) bool {
	return have.kind == want.kind && (have.kind == operands || have.kind == place) && have.text == ""
}

func mismatch(have, want part) *Difference {
	switch {
	case have.kind == fixed || want.kind == fixed || want.kind == operands:
		return different(want, "has other words than the step for a command of which every word counts")
	case have.show() == want.show():
		return different(want, "has another "+want.noun()+" than the step")
	}
	return different(want, "has "+have.show()+" where the step has "+want.show())
}

func different(p part, words string) *Difference {
	codes := map[kind]string{program: CodeProgram, joint: CodeChaining, effect: CodeEffect, redirect: CodeRedirect,
		fixed: CodeWords, operands: CodeWords, place: CodePlace, variables: CodeAssignment}
	return &Difference{codes[p.kind], "the call " + words}
}

const maxShownBytes = 60

// show names the part without anything that may be a value of the user's.
func (p part) show() string {
	switch p.kind {
	case program, joint, effect:
		text := strings.ReplaceAll(p.text, separator, " ")
		if len(text) > maxShownBytes || strings.Contains(text, "\n") {
			text, _, _ = strings.Cut(text, " ")
		}
		return "`" + text + "`"
	}
	return "a " + p.noun()
}

func (p part) noun() string {
	return map[kind]string{program: "program", joint: "join", effect: "option", redirect: "redirection", fixed: "list of words",
		operands: "list of words", place: "host", variables: "variable"}[p.kind]
}
