package injectionguard

import (
	"strings"
	"unicode"
)

// asIdentifier holds in every plan, where the sample has only letters, digits and
// the signs of names.
func asIdentifier(value, sample string, has class) *fault {
	if !isIdentifier(sample) {
		return nil
	}
	if f := identifierFault(value, has); f != nil || !has.any(hasSign) {
		return f
	}
	return whenDecoded(value, func(decoded string) *fault { return identifierFault(decoded, classesIn(decoded)) })
}

func identifierFault(value string, has class) *fault {
	if has.any(hasDot) && isTraversal(value) {
		return &fault{code: CodeTraversal, words: "leads out of the folder that a bare name stands in"}
	}
	at := -1
	if has.any(hasSign) {
		at = strings.IndexAny(value, notInIdentifiers)
	}
	if at < 0 && has.any(hasControl|hasWide) {
		at = strings.IndexFunc(value, isHidden)
	}
	if at < 0 {
		return nil
	}
	return faultAt(CodeIdentifier, value, at, "where the recording had a bare name")
}

func isHidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// asPath holds in every plan, where the sample is a path: the value must not climb
// where the sample did not, and must not leave for the root.
func asPath(value, sample string, has class) *fault {
	if !strings.ContainsAny(sample, `/\`) {
		return nil
	}
	if f := pathFault(value, sample); f != nil || !has.any(hasSign) {
		return f
	}
	return whenDecoded(value, func(decoded string) *fault { return pathFault(decoded, sample) })
}

func pathFault(value, sample string) *fault {
	if isTraversal(value) && !isTraversal(sample) {
		return &fault{code: CodeTraversal, words: "climbs out of its folder, which it did not in the recording"}
	}
	if isRooted(value) && !isRooted(sample) {
		return &fault{code: CodePath, words: "was a relative path in the recording and is now from the root"}
	}
	return nil
}

func isIdentifier(s string) bool {
	for _, r := range s {
		ok := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)
		if !ok {
			return false
		}
	}
	return s != ""
}

// isPath takes a path from the root, and a relative one without white space, which
// tells it from prose with a slash.
func isPath(s string) bool {
	if strings.Contains(s, "://") {
		return false
	}
	return isRooted(s) && len(s) > 1 || strings.ContainsAny(s, `/\`) && !strings.ContainsFunc(s, unicode.IsSpace)
}

func isTraversal(s string) bool {
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' }) {
		if strings.TrimSpace(part) == ".." {
			return true
		}
	}
	return false
}

func isRooted(s string) bool {
	return strings.HasPrefix(s, "/") || strings.HasPrefix(s, `\`) || strings.HasPrefix(s, "~") ||
		len(s) > 1 && s[1] == ':' && unicode.IsLetter(rune(s[0]))
}

// depth is the number of a path's parts. An empty part and a dot are none.
func depth(s string) int {
	n := 0
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part != "." {
			n++
		}
	}
	return n
}

// rootOf is where a path begins: the root, a home folder, a drive, or nothing.
func rootOf(s string) string {
	switch {
	case strings.HasPrefix(s, "~"):
		home, _, _ := strings.Cut(s, "/")
		return home
	case !isRooted(s):
		return ""
	case s[0] == '/' || s[0] == '\\':
		return s[:1]
	}
	return strings.ToLower(s[:2])
}
