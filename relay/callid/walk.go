package callid

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// member is where a member of an object stands in its line.
type member struct {
	comma      int // the one before it; 0 for the first
	start      int // of its name
	nameEnd    int
	value, end int
}

// object lists the members of the object that begins at i.
func object(line []byte, i int) (members []member, ok bool) {
	if i >= len(line) || line[i] != '{' {
		return nil, false
	}
	comma := 0
	for i = space(line, i+1); i < len(line) && line[i] == '"'; {
		m := member{comma: comma, start: i, nameEnd: skipString(line, i)}
		colon := space(line, m.nameEnd)
		if colon >= len(line) || line[colon] != ':' {
			return nil, false
		}
		m.value = space(line, colon+1)
		m.end = skipValue(line, m.value)
		if m.end == m.value {
			return nil, false
		}
		members = append(members, m)
		i = space(line, m.end)
		if i >= len(line) || line[i] != ',' {
			break
		}
		comma = i
		i = space(line, i+1)
	}
	closed := i < len(line) && line[i] == '}' && (len(members) == 0 || comma <= members[len(members)-1].start)
	if !closed {
		return nil, false
	}
	return members, true
}

// array lists where the elements of the array that begins at i begin.
func array(line []byte, i int) (elements []int) {
	if i >= len(line) || line[i] != '[' {
		return nil
	}
	for i = space(line, i+1); i < len(line) && line[i] != ']'; {
		end := skipValue(line, i)
		if end == i {
			return nil
		}
		elements = append(elements, i)
		if i = space(line, end); i < len(line) && line[i] == ',' {
			i = space(line, i+1)
		}
	}
	return elements
}

// messages lists where the messages of a line begin: one, or those of a batch.
func messages(line []byte) []int {
	i := space(line, 0)
	if i < len(line) && line[i] == '[' {
		return array(line, i)
	}
	return []int{i}
}

// find is the last member of a name, which is the one that decoders take.
func find(line []byte, members []member, key string) *member {
	for i := len(members) - 1; i >= 0; i-- {
		if name(line, members[i]) == key {
			return &members[i]
		}
	}
	return nil
}

// inner lists the members of the object that a member holds.
func inner(line []byte, members []member, key string) []member {
	m := find(line, members, key)
	if m == nil {
		return nil
	}
	list, _ := object(line, m.value)
	return list
}

func name(line []byte, m member) string { return text(line[m.start:m.nameEnd]) }

// text decodes a JSON string; it is empty for anything else.
func text(raw []byte) string {
	switch {
	case len(raw) < 2 || raw[0] != '"':
		return ""
	case bytes.IndexByte(raw, '\\') < 0:
		return string(raw[1 : len(raw)-1])
	}
	return gjson.ParseBytes(raw).Str
}

func space(line []byte, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r' || line[i] == '\n') {
		i++
	}
	return i
}

// skipValue returns the index behind the value that begins at i.
func skipValue(line []byte, i int) int {
	depth := 0
	for i < len(line) {
		switch line[i] {
		case '"':
			i = skipString(line, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ' ', '\t', '\r', '\n', ':':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i = skipLiteral(line, i)
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

func skipLiteral(line []byte, i int) int {
	for i < len(line) && bytes.IndexByte([]byte(`,:]}{[" `+"\t\r\n"), line[i]) < 0 {
		i++
	}
	return i
}

// skipString returns the index behind the string that begins at i.
func skipString(line []byte, i int) int {
	for i++; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}
