package redact

import "bytes"

// assigned finds a secret by the name before it; i is at the colon or equals sign
// of "name=value", "name: value" or "name": "value".
func assigned(s []byte, i int) (edit, bool) {
	name, quoted := nameBefore(s, i)
	if name == nil {
		return edit{}, false
	}
	start := run(s, i+1, isBlank)
	if start == len(s) {
		return edit{}, false
	}
	switch k := assignedKind(s, i, name); {
	case k == plain || isHidden(s[start:]):
		return edit{}, false
	case s[i] == ':' && !quoted && isHeader(s, i, name):
		return headerValue(s, start)
	default:
		return value(s, i, start, name)
	}
}

// maxNameScan bounds how far back a name is looked for.
const maxNameScan = 64

// nameBefore returns the name that ends before the separator at i, and whether it
// was quoted (escaped quotes included: JSON in a shell command has those).
func nameBefore(s []byte, i int) (name []byte, quoted bool) {
	end := i
	for end > 0 && (isBlank(s[end-1]) || s[end-1] == '"' || s[end-1] == '\'' || s[end-1] == '\\') {
		quoted = quoted || !isBlank(s[end-1])
		end--
	}
	start := end
	for start > 0 && end-start < maxNameScan && (isTokenByte(s[start-1])) {
		start--
	}
	if end-start < 3 {
		return nil, false
	}
	return s[start:end], quoted
}

// assignedKind adds to nameKind what names a secret only in this place: a pwd in
// a connection string, and the signature that makes a URL work.
func assignedKind(s []byte, i int, name []byte) kind {
	switch {
	case bytes.EqualFold(name, []byte("pwd")):
		if s[i] == '=' && i+1 < len(s) && s[i+1] != '/' && s[i+1] != '$' && !bytes.Equal(name, []byte("PWD")) {
			return secret
		}
	case bytes.EqualFold(name, []byte("sig")), bytes.HasSuffix(name, []byte("-Signature")):
		if before := i - len(name) - 1; before >= 0 && (s[before] == '?' || s[before] == '&') {
			return secret
		}
	}
	if k := nameKind(name); k != env {
		return k
	}
	return plain
}

// isHeader holds for a header whose whole line is a secret, where a header can
// stand: at the start of a line or of a quoted word.
func isHeader(s []byte, i int, name []byte) bool {
	before := bytes.TrimRight(s[:i-len(name)], " \t<>")
	if n := len(before); n > 0 && !bytes.ContainsAny(before[n-1:], "\n\"'`") {
		return false
	}
	for _, header := range []string{"authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"} {
		if bytes.EqualFold(name, []byte(header)) {
			return true
		}
	}
	return false
}

// headerValue runs to the end of the line or of the quotes around the header.
func headerValue(s []byte, start int) (edit, bool) {
	end := run(s, start, func(b byte) bool { return b != '\n' && b != '\r' && b != '"' && b != '\'' })
	for end > start && (isBlank(s[end-1]) || s[end-1] == '\\') {
		end--
	}
	return edit{start, end, mark}, end > start
}

// value redacts a quoted literal, or a bare word that can be one: code that names
// a secret does not hold it.
func value(s []byte, sep, start int, name []byte) (edit, bool) {
	for start < len(s) && s[start] == '\\' {
		start++
	}
	if start < len(s) && (s[start] == '"' || s[start] == '\'') {
		return quotedValue(s, start)
	}
	end := look(s, start, isValueByte)
	word := s[start:end]
	if len(word) == 0 || isPlaceholder(word[0]) || isCode(s, end, word, name) {
		return edit{}, false
	}
	tight := s[sep] == '=' && start == sep+1
	if !tight && !isLiteral(s, end, word) {
		return edit{}, false
	}
	return edit{start, run(s, end, isValueByte), mark}, true
}

func quotedValue(s []byte, quote int) (edit, bool) {
	start := quote + 1
	end := run(s, start, func(b byte) bool { return b != s[quote] && b != '\n' })
	for end > start && s[end-1] == '\\' {
		end-- // the escape of the closing quote
	}
	if end == start || end == len(s) || isPlaceholder(s[start]) || isHidden(s[start:]) {
		return edit{}, false
	}
	return edit{start, end, mark}, true
}

// isPlaceholder holds for the first byte of "$TOKEN", "<token>", "${x}", "{{x}}"
// and "%s", which stand for a secret.
func isPlaceholder(b byte) bool {
	return b == '$' || b == '<' || b == '{' || b == '%' || b == '[' || b == '('
}

// isCode holds for an expression in the place of a value: a call, an index, or
// the same name again (token=self.token).
func isCode(s []byte, end int, word, name []byte) bool {
	if bytes.ContainsAny(word, "([") || end < len(s) && (s[end] == '(' || s[end] == '[') {
		return true
	}
	return bytes.Equal(word[bytes.LastIndexByte(word, '.')+1:], name)
}

// isLiteral says whether a bare word after a colon or a spaced equals sign is
// more likely a secret than prose or a type: it holds a digit, or ends its line
// and is no common word for there being none.
func isLiteral(s []byte, end int, word []byte) bool {
	if len(word) < minText {
		return false
	}
	if bytes.ContainsAny(word, "0123456789") {
		return true
	}
	return bytes.ContainsAny(word, "!@#$%^&*+") || (end == len(s) || s[end] == '\n' || s[end] == '\r') && !isTypeWord(word)
}

func isTypeWord(word []byte) bool {
	switch string(bytes.ToLower(word)) {
	case "string", "number", "boolean", "object", "undefined", "required", "optional", "missing", "invalid",
		"expired", "unknown", "disabled", "enabled", "integer":
		return true
	}
	return false
}

func isValueByte(b byte) bool {
	return isURLByte(b) && b != ';' && b != '&' && b != ',' && b != ')' && b != '}' && b != ']' && b != '\\'
}

// flagValue finds the word after --api-key; i is at the second hyphen.
func flagValue(s []byte, i int) (edit, bool) {
	if i == 0 || s[i-1] != '-' || i > 1 && !isBlank(s[i-2]) && s[i-2] != '\n' {
		return edit{}, false
	}
	end := run(s, i+1, isTokenByte)
	start := run(s, end, isBlank)
	if start == end || start == len(s) || end-i > maxNameScan {
		return edit{}, false
	}
	if k := nameKind(s[i+1 : end]); k != secret && k != counts {
		return edit{}, false
	}
	if s[start] == '"' || s[start] == '\'' {
		return quotedValue(s, start)
	}
	stop := run(s, start, isValueByte)
	if stop == start || s[start] == '-' || isPlaceholder(s[start]) {
		return edit{}, false
	}
	return edit{start, stop, mark}, true
}
