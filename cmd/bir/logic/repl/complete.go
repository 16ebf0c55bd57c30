package repl

import "strings"

// complete tells whether an input can be evaluated, or its author is still
// writing: a bracket, template or comment is open, or the line ends in an operator.
func complete(input string) bool {
	s := scanner{text: input}
	s.scan()
	if s.depth > 0 || s.open {
		return false
	}
	last := strings.TrimRight(s.code.String(), " \t\n")
	return last == "" || !strings.ContainsAny(last[len(last)-1:], "=>&|,.+?:") || strings.HasSuffix(last, "++")
}

// scanner counts brackets outside of strings, templates, comments and regular
// expressions. It is no parser: in doubt an input counts as complete, and the
// evaluator says what is wrong with it.
type scanner struct {
	text  string
	at    int
	depth int
	open  bool // a template or a comment has no end
	code  strings.Builder
}

func (s *scanner) scan() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, "//"):
			s.skipTo("\n", 2)
		case strings.HasPrefix(rest, "/*"):
			s.open = !s.skipTo("*/", 2)
		case c == '/' && s.regexpMayStart():
			s.quoted('/')
		case c == '"' || c == '\'':
			s.quoted(c)
		case c == '`':
			s.open = !s.quoted(c)
		default:
			s.depth += strings.Count("([{", string(c)) - strings.Count(")]}", string(c))
			s.code.WriteByte(c)
			s.at++
		}
	}
}

// skipTo moves behind the end of what begins here, and says whether it has one.
func (s *scanner) skipTo(end string, width int) bool {
	i := strings.Index(s.text[s.at+width:], end)
	if i < 0 {
		s.at = len(s.text)
		return false
	}
	s.at += width + i + len(end)
	return true
}

// quoted moves behind a string, which ends on its line unless it is a template.
func (s *scanner) quoted(quote byte) bool {
	s.code.WriteByte('0') // an operand
	for i := s.at + 1; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\\':
			i++
		case c == quote, c == '\n' && quote != '`':
			s.at = i + 1
			return true
		}
	}
	s.at = len(s.text)
	return false
}

// regexpMayStart tells a regular expression from a division by what stands before.
func (s *scanner) regexpMayStart() bool {
	before := strings.TrimRight(s.code.String(), " \t\n")
	return before == "" || strings.ContainsAny(before[len(before)-1:], "(,=:[!&|?{};+-*%<>~^") || strings.HasSuffix(before, "return")
}
