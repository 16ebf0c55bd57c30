package redact

import "bytes"

// minText is the length from which a string can hold a secret that has a shape.
const minText = 6

// scanString returns the edits for a string's decoded text. A string that is JSON
// is walked as such, up to maxLayers deep.
func scanString(s []byte, layer int, filter filter) []edit {
	if len(s) < minText {
		return nil
	}
	if layer < maxLayers && looksLikeJSON(s) {
		if edits, ok := walkJSON(s, layer+1, filter); ok {
			return edits
		}
	}
	return scanText(s)
}

func looksLikeJSON(s []byte) bool {
	s = bytes.TrimSpace(s)
	if len(s) < 2 {
		return false
	}
	first, last := s[0], s[len(s)-1]
	return (first == '{' || first == '[') && (last == '}' || last == ']')
}

// anchor says which shapes a byte can give away. Only at these bytes is anything
// looked at: this table is the prefilter that makes ordinary text cheap.
type anchor uint8

const (
	prefixAnchor anchor = 1 + iota // the last byte of a token's prefix
	assignAnchor                   // between a name and its value
	schemeAnchor                   // the B of Bearer and Basic
	jwtAnchor                      // the J of eyJ
)

var anchors = [256]anchor{
	'-': prefixAnchor, '_': prefixAnchor, '.': prefixAnchor, 'A': prefixAnchor, 'z': prefixAnchor,
	':': assignAnchor, '=': assignAnchor,
	'B': schemeAnchor, 'b': schemeAnchor,
	'J': jwtAnchor,
}

// scanText returns the edits for text that is no JSON, in order.
func scanText(s []byte) []edit {
	var edits []edit
	done := 0 // everything before it is settled
	for i := 0; i < len(s); i++ {
		a := anchors[s[i]]
		if a == 0 {
			continue
		}
		if e, ok := match(a, s, i); ok && e.start >= done {
			edits = append(edits, e)
			done = e.end
			i = e.end - 1
		}
	}
	return edits
}

// match tries the shapes that the anchor at i can belong to.
func match(a anchor, s []byte, i int) (edit, bool) {
	switch a {
	case prefixAnchor:
		if s[i] == '-' && bytes.HasPrefix(s[i:], []byte(pemBegin)) {
			return pemBlock(s, i)
		}
		if e, ok := prefixed(s, i); ok || s[i] != '-' {
			return e, ok
		}
		return flagValue(s, i)
	case assignAnchor:
		if e, ok := userInfo(s, i); ok {
			return e, true
		}
		return assigned(s, i)
	case schemeAnchor:
		return authScheme(s, i)
	case jwtAnchor:
		return jwt(s, i)
	}
	return edit{}, false
}
