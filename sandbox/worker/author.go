package worker

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// sourceName is the body's name in goja's stacks, which a body can read.
const sourceName = "body"

// author knows where a position in the wrapped, perhaps lowered, code stands in
// the text that the author wrote. The wrapper adds no line: only the columns of
// the first one are moved.
type author struct {
	source string
	prefix int  // bytes before the source on its first line
	mapped bool // positions came through a source map: columns count characters
}

// at maps a position that counts from 1. A position behind the text, in the
// wrapper's own end, becomes the text's end.
func (a author) at(line, column int) (int, int) {
	if line <= 0 {
		return 0, 0
	}
	text, ok := lineOf(a.source, line)
	if !ok {
		return a.end()
	}
	if a.mapped {
		column++ // goja gives a map's columns as they are, and they count from 0
	}
	if line == 1 {
		column = max(1, column-a.prefix)
	}
	if a.mapped {
		return line, column
	}
	return line, 1 + characters(text[:min(column-1, len(text))])
}

func (a author) beyond(line int) bool {
	_, ok := lineOf(a.source, line)
	return !ok
}

func (a author) end() (line, column int) {
	line = 1
	for {
		text, _ := lineOf(a.source, line)
		if _, more := lineOf(a.source, line+1); !more {
			return line, 1 + characters(text)
		}
		line++
	}
}

// from is the rest of the author's line behind a position.
func (a author) from(line, column int) string {
	if line <= 0 {
		return ""
	}
	text, _ := lineOf(a.source, line)
	for i := range text {
		if 1+characters(text[:i]) >= column {
			return text[i:]
		}
	}
	return ""
}

// characters counts as JavaScript and editors do.
func characters(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// lineOf is the text of a line that counts from 1, ended as JavaScript ends lines.
func lineOf(source string, line int) (string, bool) {
	for ; ; line-- {
		end := strings.IndexAny(source, "\n\r\u2028\u2029")
		if line == 1 {
			if end >= 0 {
				source = source[:end]
			}
			return source, true
		}
		if end < 0 {
			return "", false
		}
		_, width := utf8.DecodeRuneInString(source[end:])
		if strings.HasPrefix(source[end:], "\r\n") {
			width = 2
		}
		source = source[end+width:]
	}
}

// position is the innermost place in the body's own text that a stack names.
func (ev *evaluation) position(stack []goja.StackFrame) (line, column int) {
	if ev.program == nil {
		return 0, 0
	}
	for i := range stack {
		if stack[i].SrcName() == sourceName {
			at := stack[i].Position()
			return ev.program.author.at(at.Line, at.Column)
		}
	}
	return 0, 0
}
