package daemon

import (
	"cmp"
	"regexp"
	"strconv"
)

// described is a version as `git describe` writes it: a tag, and how many commits
// after it.
var described = regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)(-[A-Za-z][0-9A-Za-z.]*)?(?:-(\d+)-g[0-9a-f]+)?(?:-dirty)?(?:\+.*)?$`)

// newer says whether version a is certainly newer than b. Two that cannot be compared,
// such as builds without a tag, are not: a server is replaced only by a newer one, or
// on demand.
func newer(a, b string) bool {
	x, y := described.FindStringSubmatch(a), described.FindStringSubmatch(b)
	if x == nil || y == nil {
		return false
	}
	for i := 1; i <= 3; i++ {
		if c := cmp.Compare(count(x[i]), count(y[i])); c != 0 {
			return c > 0
		}
	}
	if x[4] != y[4] { // 1.2.0-rc.1 comes before 1.2.0
		return y[4] != "" && (x[4] == "" || laterPre(x[4], y[4]))
	}
	return count(x[5]) > count(y[5])
}

func count(digits string) int {
	n, _ := strconv.Atoi(digits) // none is 0, and so is one that no version has
	return n
}

var preParts = regexp.MustCompile(`\d+|\D+`)

// laterPre compares "-rc.9" and "-rc.10" as people read them.
func laterPre(a, b string) bool {
	x, y := preParts.FindAllString(a, -1), preParts.FindAllString(b, -1)
	for i := range min(len(x), len(y)) {
		c := cmp.Compare(x[i], y[i])
		if n, err := strconv.Atoi(x[i]); err == nil {
			if m, err := strconv.Atoi(y[i]); err == nil {
				c = cmp.Compare(n, m)
			}
		}
		if c != 0 {
			return c > 0
		}
	}
	return len(x) > len(y)
}
