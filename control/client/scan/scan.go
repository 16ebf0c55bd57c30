// Package scan reads the few members of a JSON object that a program of two
// milliseconds needs. encoding/json would cost such a program a tenth of its time
// before main. It accepts exactly what encoding/json accepts, which a fuzz test holds,
// and decodes only what is asked for.
package scan

// maxDepth is encoding/json's own limit.
const maxDepth = 10_000

// Object says whether text is one whole JSON object, and no more.
func Object(text []byte) bool {
	return Members(text, func(string, []byte) bool { return true })
}

// Members hands out the members of an object in their order, each value as it stands
// in the text, until yield has enough. It says whether all that it saw was JSON: one
// that was stopped says nothing of what follows.
func Members(text []byte, yield func(key string, value []byte) bool) bool {
	at := space(text, 0)
	if at >= len(text) || text[at] != '{' {
		return false
	}
	end, stopped, ok := members(text, at, 1, yield)
	return ok && (stopped || space(text, end) == len(text))
}

// Items hands out the items of an array likewise.
func Items(text []byte, yield func(value []byte) bool) bool {
	at := space(text, 0)
	if at >= len(text) || text[at] != '[' {
		return false
	}
	end, stopped, ok := items(text, at, 1, yield)
	return ok && (stopped || space(text, end) == len(text))
}

// members reads an object that starts at at, and says where it ends.
func members(text []byte, at, depth int, yield func(string, []byte) bool) (end int, stopped, ok bool) {
	at = space(text, at+1)
	if at < len(text) && text[at] == '}' {
		return at + 1, false, true
	}
	for {
		from := at
		if at, ok = quoted(text, at); !ok {
			return at, false, false
		}
		key := text[from:at]
		if at = space(text, at); at >= len(text) || text[at] != ':' {
			return at, false, false
		}
		from = space(text, at+1)
		if at, ok = value(text, from, depth); !ok {
			return at, false, false
		}
		if yield != nil {
			name, _ := String(key)
			if !yield(name, text[from:at]) {
				return at, true, true
			}
		}
		more, after, ok := next(text, at, '}')
		if !more {
			return after, false, ok
		}
		at = after
	}
}

// items reads an array likewise.
func items(text []byte, at, depth int, yield func([]byte) bool) (end int, stopped, ok bool) {
	at = space(text, at+1)
	if at < len(text) && text[at] == ']' {
		return at + 1, false, true
	}
	for {
		from := at
		if at, ok = value(text, from, depth); !ok {
			return at, false, false
		}
		if yield != nil && !yield(text[from:at]) {
			return at, true, true
		}
		more, after, ok := next(text, at, ']')
		if !more {
			return after, false, ok
		}
		at = after
	}
}

// next passes the comma before another member or item, or what closes the last.
func next(text []byte, at int, closing byte) (more bool, after int, ok bool) {
	at = space(text, at)
	switch {
	case at < len(text) && text[at] == ',':
		return true, space(text, at+1), true
	case at < len(text) && text[at] == closing:
		return false, at + 1, true
	}
	return false, at, false
}

// value passes one value, whatever it is, inside depth others.
func value(text []byte, at, depth int) (end int, ok bool) {
	if at >= len(text) {
		return at, false
	}
	switch c := text[at]; {
	case c == '{' && depth < maxDepth:
		end, _, ok = members(text, at, depth+1, nil)
		return end, ok
	case c == '[' && depth < maxDepth:
		end, _, ok = items(text, at, depth+1, nil)
		return end, ok
	case c == '"':
		return quoted(text, at)
	case c == '-' || digit(c):
		return number(text, at)
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if end := at + len(word); end <= len(text) && string(text[at:end]) == word {
			return end, true
		}
	}
	return at, false
}

// number passes -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
func number(text []byte, at int) (end int, ok bool) {
	if text[at] == '-' {
		at++
	}
	whole := digits(text, at)
	if whole == at || text[at] == '0' && whole > at+1 {
		return at, false
	}
	at = whole
	if at < len(text) && text[at] == '.' {
		end := digits(text, at+1)
		if end == at+1 {
			return at, false
		}
		at = end
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		from := at + 1
		if from < len(text) && (text[from] == '+' || text[from] == '-') {
			from++
		}
		if at = digits(text, from); at == from {
			return at, false
		}
	}
	return at, true
}

func digits(text []byte, at int) int {
	for at < len(text) && digit(text[at]) {
		at++
	}
	return at
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func space(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}
