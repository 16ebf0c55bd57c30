// Package callid has the older way to tell which of the model's calls a tools/call
// is: a member of its arguments, which a hook adds and the proxy takes out again. It
// works on raw lines and changes only the bytes of that member: key order, number
// text, escapes and white space of everything else stay. A line that it does not
// understand wholly it leaves alone.
package callid

import "slices"

// Key is the member's name.
const Key = "__bir_call_id__"

// declaration is what a tool's schema says about the member, so that hosts which
// check arguments against it let the member pass.
const declaration = `"` + Key + `":{"type":"string","description":"Reserved. Leave unset."}`

// cut is a piece of a line that goes, and what comes in its place.
type cut struct {
	start, end int
	text       string
}

// Take returns an arguments object without the member, and the member's value; the
// object itself, and "", where it has none.
func Take(args []byte) (rest []byte, id string) {
	members, ok := object(args, 0)
	if !ok {
		return args, ""
	}
	cuts, id := taken(args, members)
	if len(cuts) == 0 {
		return args, ""
	}
	return apply(args, cuts), id
}

// TakeFrom returns a line without the members of the calls in it, or nil where it
// has none: a request, or a batch of them.
func TakeFrom(line []byte) []byte {
	var cuts []cut
	for _, at := range messages(line) {
		message, _ := object(line, at)
		if method := find(line, message, "method"); method == nil || text(line[method.value:method.end]) != "tools/call" {
			continue
		}
		params := inner(line, message, "params")
		args := inner(line, params, "arguments")
		more, _ := taken(line, args)
		cuts = append(cuts, more...)
	}
	return applied(line, cuts)
}

// Declare returns the answer to a tools/list with the member declared in the schema
// of each tool, or nil where there is nothing to declare.
func Declare(line []byte) []byte {
	var cuts []cut
	for _, at := range messages(line) {
		message, _ := object(line, at)
		result := inner(line, message, "result")
		tools := find(line, result, "tools")
		if tools == nil {
			continue
		}
		for _, tool := range array(line, tools.value) {
			if c, ok := declared(line, tool); ok {
				cuts = append(cuts, c)
			}
		}
	}
	return applied(line, cuts)
}

// declared is the insertion for one tool. A schema that has the member already, from
// another proxy, is left as it is.
func declared(line []byte, tool int) (cut, bool) {
	members, _ := object(line, tool)
	schema := find(line, members, "inputSchema")
	if schema == nil {
		return cut{}, false
	}
	fields, ok := object(line, schema.value)
	if !ok {
		return cut{}, false
	}
	properties := find(line, fields, "properties")
	if properties == nil {
		return appended(schema.value, fields, `"properties":{`+declaration+`}`), true
	}
	known, ok := object(line, properties.value)
	if !ok || find(line, known, Key) != nil {
		return cut{}, false
	}
	return appended(properties.value, known, declaration), true
}

// appended puts a member behind the last of the object that begins at open.
func appended(open int, members []member, text string) cut {
	if len(members) == 0 {
		return cut{open + 1, open + 1, text}
	}
	end := members[len(members)-1].end
	return cut{end, end, "," + text}
}

// taken finds the members to take out, each with the comma that it came with: the
// one before it, or for the first of an object the one behind.
func taken(line []byte, members []member) (cuts []cut, id string) {
	kept := false // whether a member before this one stays
	for i, m := range members {
		if name(line, m) != Key {
			kept = true
			continue
		}
		id = text(line[m.value:m.end])
		c := cut{start: m.start, end: m.end}
		switch {
		case kept:
			c.start = m.comma
		case i+1 < len(members):
			c.end = members[i+1].comma + 1
		}
		cuts = append(cuts, c)
	}
	return cuts, id
}

func applied(line []byte, cuts []cut) []byte {
	if len(cuts) == 0 {
		return nil
	}
	return apply(line, cuts)
}

func apply(line []byte, cuts []cut) []byte {
	slices.SortFunc(cuts, func(a, b cut) int { return a.start - b.start })
	var out []byte
	from := 0
	for _, c := range cuts {
		out = append(append(out, line[from:c.start]...), c.text...)
		from = c.end
	}
	return append(out, line[from:]...)
}
