package command

import "strings"

// readPowerShell takes a line apart into commands and what joins them. It knows
// words, quotes, pipes and redirections. Whatever else PowerShell has (blocks,
// subexpressions, arrays, escapes, types) makes the line one that only an exact
// copy is the same as.
func readPowerShell(line string) outline {
	p := &psReader{line: line}
	if strings.ContainsAny(line, psUnread) || strings.Contains(line, "<#") {
		p.demandExact("holds a construct of PowerShell that is compared by its text")
		return p.outline
	}
	for p.exact == "" && p.at < len(p.line) {
		p.next()
	}
	p.end()
	return p.outline
}

// psUnread are signs of what is not read, and those that PowerShell takes for quotes,
// dashes and spaces.
const psUnread = "\x00`(){}@\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u2013\u2014\u2015\u0085\u00a0"

type psReader struct {
	outline
	line  string
	at    int
	words []word
	piped bool
}

// next reads one word or sign.
func (p *psReader) next() {
	rest := p.line[p.at:]
	switch {
	case strings.HasPrefix(rest, "\r\n"):
		p.join(";", 2)
	case rest[0] == ' ', rest[0] == '\t':
		p.at++
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		p.join(rest[:2], 2)
	case rest[0] == '|', rest[0] == '&':
		p.ampersand(rest)
	case rest[0] == ';', rest[0] == '\n', rest[0] == '\r':
		p.join(";", 1)
	case rest[0] == '#':
		end := strings.IndexAny(rest, "\r\n")
		if end < 0 {
			end = len(rest)
		}
		p.at += end
	case redirection(rest) > 0:
		p.redirect(redirection(rest))
	default:
		p.words = append(p.words, p.word())
	}
}

// ampersand tells a pipe from the sign that, before a command, runs what its word
// says, and after one puts it in the background.
func (p *psReader) ampersand(rest string) {
	if rest[0] == '&' && len(p.words) == 0 {
		p.demandExact("runs what a word says")
		return
	}
	p.join(rest[:1], 1)
}

func (p *psReader) join(sign string, length int) {
	p.at += length
	before := len(p.parts)
	p.end()
	if sign == ";" && len(p.parts) == before {
		return // an empty line
	}
	p.add(joint, sign)
	p.piped = sign == "|"
}

// end reads the command that the words make. A separator after the last one is
// none.
func (p *psReader) end() {
	if p.at >= len(p.line) && len(p.words) == 0 {
		if n := len(p.parts); n > 0 && p.parts[n-1] == (part{joint, ";"}) {
			p.parts = p.parts[:n-1]
		}
		return
	}
	words := p.words
	p.words = nil
	if len(words) == 0 {
		return
	}
	a := argv{out: &p.outline, piped: p.piped, script: func(string) { p.demandExact("runs a script that stands in the command") }}
	name := words[0]
	if name.plain() {
		name.text = cmdlet(name.text)
		words[0] = name
	}
	switch {
	case name.dynamic, strings.ContainsAny(name.text[:min(1, len(name.text))], "$[.\"'"):
		p.demandExact("starts with what is no command")
	case strings.Contains(name.text, "-"):
		p.cmdlet(&a, words)
	default:
		a.read(words)
	}
}

// cmdlet compares every word, unless the command only reads.
func (p *psReader) cmdlet(a *argv, words []word) {
	verb, _, _ := strings.Cut(words[0].text, "-")
	if hasOption(psReads, verb) || hasOption(psReading, words[0].text) {
		p.add(program, words[0].text)
		a.effects(spec{}, words[1:])
		return
	}
	a.strict(words[0].text, words[1:]) // which also refuses input from a pipe
}

// psReads are verbs of cmdlets that only read, and psReading cmdlets of other verbs.
const (
	psReads   = "get select sort measure test compare group resolve split join convertfrom convertto"
	psReading = "format-table format-list format-wide format-custom format-hex write-host write-output write-verbose write-warning write-error"
)

// word reads up to the next space or sign. Quoted parts belong to it.
func (p *psReader) word() (w word) {
	start := p.at
	var out strings.Builder
	for p.at < len(p.line) {
		b := p.line[p.at]
		switch {
		case b == '\'' || b == '"':
			text, expands, ok := p.quoted(b)
			if !ok {
				p.demandExact("has a quote without an end")
				return w
			}
			w.dynamic = w.dynamic || expands
			out.WriteString(text)
			continue
		case strings.IndexByte(" \t\r\n;|&<>", b) >= 0:
			return p.finish(w, out.String(), start)
		case b == '$' || b == '%' && p.at == start:
			w.dynamic = true
		case b == '*' || b == '?':
			w.glob = true
		}
		out.WriteByte(b)
		p.at++
	}
	return p.finish(w, out.String(), start)
}

func (p *psReader) finish(w word, text string, start int) word {
	w.text = text
	if !w.plain() {
		w.text = p.line[start:p.at]
	}
	if w.text == "--%" {
		p.demandExact("passes the rest of the line as it is")
	}
	return w
}

func (p *psReader) quoted(quote byte) (text string, expands, ok bool) {
	var out strings.Builder
	for i := p.at + 1; i < len(p.line); i++ {
		b := p.line[i]
		if b == quote {
			if i+1 < len(p.line) && p.line[i+1] == quote {
				i++
			} else {
				p.at = i + 1
				return out.String(), expands, true
			}
		}
		expands = expands || quote == '"' && b == '$'
		out.WriteByte(b)
	}
	return "", false, false
}

// redirection is the length of an operator such as > or 2>>.
func redirection(rest string) int {
	i := 0
	if strings.IndexByte("123456*", rest[0]) >= 0 {
		i = 1
	}
	if i >= len(rest) || rest[i] != '>' && rest[i] != '<' {
		return 0
	}
	if strings.HasPrefix(rest[i:], ">>") || strings.HasPrefix(rest[i:], ">&") {
		return i + 2
	}
	return i + 1
}

func (p *psReader) redirect(length int) {
	operator := p.line[p.at : p.at+length]
	p.at += length
	for p.at < len(p.line) && (p.line[p.at] == ' ' || p.line[p.at] == '\t') {
		p.at++
	}
	target := p.word()
	if operator == "2>&" && target.text == "1" || target.text == "$null" {
		return
	}
	p.add(redirect, operator+" "+target.text)
}

// cmdlet is the full name of an alias, in lower case: PowerShell knows no other.
func cmdlet(name string) string {
	lower := strings.TrimSuffix(strings.ToLower(name), ".exe")
	if full, ok := psAliases[lower]; ok {
		return full
	}
	return lower
}

var psAliases = map[string]string{
	"ls": "get-childitem", "dir": "get-childitem", "gci": "get-childitem", "cat": "get-content", "gc": "get-content",
	"type": "get-content", "rm": "remove-item", "del": "remove-item", "erase": "remove-item", "rd": "remove-item",
	"ri": "remove-item", "rmdir": "remove-item", "cp": "copy-item", "copy": "copy-item", "cpi": "copy-item",
	"mv": "move-item", "move": "move-item", "mi": "move-item", "cd": "set-location", "chdir": "set-location",
	"sl": "set-location", "pwd": "get-location", "gl": "get-location", "echo": "write-output", "iex": "invoke-expression",
	"icm": "invoke-command", "iwr": "invoke-webrequest", "curl": "invoke-webrequest", "wget": "invoke-webrequest",
	"irm": "invoke-restmethod", "saps": "start-process", "start": "start-process", "kill": "stop-process",
	"spps": "stop-process", "ps": "get-process", "gps": "get-process", "sc": "set-content", "ac": "add-content",
	"ni": "new-item", "md": "new-item", "mkdir": "new-item", "ren": "rename-item", "rni": "rename-item",
	"select": "select-object", "where": "where-object", "sort": "sort-object", "measure": "measure-object",
	"foreach": "foreach-object", "sls": "select-string", "ft": "format-table", "fl": "format-list", "tee": "tee-object",
	"gsv": "get-service", "sasv": "start-service", "spsv": "stop-service", "?": "where-object", "%": "foreach-object",
	"sal": "set-alias", "nal": "new-alias", "ipmo": "import-module", "clc": "clear-content", "cli": "clear-item",
}
