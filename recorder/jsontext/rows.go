package jsontext

// Member is one member of an object: its key without the quotes, as it is spelled,
// and where its value stands in the text.
type Member struct {
	Key        []byte
	Start, End int
}

// Rows goes through a list once: it calls visit with each element and, where that is
// an object, its members, and says whether the whole is valid. What is invalid shows
// only after the elements before it were visited. The members are the visitor's until
// it returns.
func Rows(s []byte, visit func(element Span, members []Member)) bool {
	v := validator{s: s, size: len(s)}
	if v.space(); !v.is('[') {
		return false
	}
	var members []Member
	for first := true; ; first = false {
		if v.space(); v.is(']') {
			break
		}
		if !first && !v.is(',') {
			return false
		}
		v.space()
		start := v.i
		ok := true
		if members = members[:0]; v.i < len(s) && s[v.i] == '{' {
			members, ok = v.members(members)
		} else {
			ok = v.value(1)
		}
		if !ok {
			return false
		}
		visit(Span{start, v.i}, members)
	}
	v.space()
	return v.i == len(s)
}

// members moves past the object that is here and appends its members to found.
func (v *validator) members(found []Member) ([]Member, bool) {
	v.i++
	for first := true; ; first = false {
		if v.space(); first && v.is('}') {
			return found, true
		}
		key := v.i
		if key >= len(v.s) || v.s[key] != '"' || !v.str() {
			return found, false
		}
		m := Member{Key: v.s[key+1 : v.i-1]}
		if v.space(); !v.is(':') {
			return found, false
		}
		v.space()
		m.Start = v.i
		if !v.value(2) {
			return found, false
		}
		m.End = v.i
		found = append(found, m)
		if v.space(); v.is('}') {
			return found, true
		}
		if !v.is(',') {
			return found, false
		}
	}
}
