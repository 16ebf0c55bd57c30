package value

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Diff says where computed first differs from expected, as a path and what
// differs there: `path: want "/a", got "/b"`. It is empty for equal values.
func Diff(expected, computed json.RawMessage) string {
	want, err := Parse(expected)
	if err != nil {
		return "the expected value is not JSON"
	}
	got, err := Parse(computed)
	if err != nil {
		return "the computed value is not JSON"
	}
	return diff("", want, got)
}

// Equal compares deeply: keys in any order, numbers by value and by the class of
// their text, since 1.0 and 1 are not the same to every server.
func (n *Node) Equal(other *Node) bool { return diff("", n, other) == "" }

func diff(path string, want, got *Node) string {
	switch {
	case want.Kind != got.Kind:
		return differs(path, want, got)
	case want.Kind == Object:
		return diffObjects(path, want, got)
	case want.Kind == Array:
		return diffArrays(path, want, got)
	case want.Kind == Number && !SameNumber(want.Text, got.Text),
		want.Kind != Number && want.Text != got.Text:
		return differs(path, want, got)
	}
	return ""
}

func diffObjects(path string, want, got *Node) string {
	for i, key := range want.Keys {
		other := got.Get(key)
		if other == nil {
			return fmt.Sprintf("%s: missing", join(path, key))
		}
		if d := diff(join(path, key), want.Items[i], other); d != "" {
			return d
		}
	}
	for _, key := range got.Keys {
		if !slices.Contains(want.Keys, key) {
			return fmt.Sprintf("%s: not in the recording", join(path, key))
		}
	}
	return ""
}

func diffArrays(path string, want, got *Node) string {
	for i := range min(len(want.Items), len(got.Items)) {
		if d := diff(fmt.Sprintf("%s[%d]", path, i), want.Items[i], got.Items[i]); d != "" {
			return d
		}
	}
	if len(want.Items) != len(got.Items) {
		return fmt.Sprintf("%s: want %d elements, got %d", root(path), len(want.Items), len(got.Items))
	}
	return ""
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func root(path string) string {
	if path == "" {
		return "(whole value)"
	}
	return path
}

func differs(path string, want, got *Node) string {
	return fmt.Sprintf("%s: want %s, got %s", root(path), brief(want), brief(got))
}

const briefRunes = 80

func brief(n *Node) string {
	text := n.Text
	switch n.Kind {
	case Object:
		return "an object"
	case Array:
		return "an array"
	case Null:
		return "null"
	case String:
		text = strconv.Quote(text)
	}
	if runes := []rune(text); len(runes) > briefRunes {
		return string(runes[:briefRunes]) + "…"
	}
	return text
}

// maxExponent bounds what is compared exactly; 1e999999999 would fill memory.
const maxExponent = 400

// SameNumber compares two JSON number texts: the same value, both written as an
// integer or both not, and the same sign of zero.
func SameNumber(a, b string) bool {
	if a == b {
		return true
	}
	if integer(a) != integer(b) || strings.HasPrefix(a, "-") != strings.HasPrefix(b, "-") {
		return false
	}
	if exponent(a) > maxExponent || exponent(b) > maxExponent {
		return false
	}
	x, okX := new(big.Rat).SetString(a)
	y, okY := new(big.Rat).SetString(b)
	return okX && okY && x.Cmp(y) == 0
}

func integer(text string) bool { return !strings.ContainsAny(text, ".eE") }

func exponent(text string) int {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimPrefix(text[i+1:], "+"))
	if err != nil {
		return maxExponent + 1
	}
	return max(n, -n)
}

// JavaScript renders a number as a JavaScript program that reads and prints it
// would, and says whether that keeps its value and class.
func JavaScript(text string) (string, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", false
	}
	if f == 0 {
		return "0", SameNumber(text, "0")
	}
	out := strconv.FormatFloat(f, 'f', -1, 64)
	if abs := max(f, -f); abs >= 1e21 || abs < 1e-6 {
		out = trimExponent(strconv.FormatFloat(f, 'e', -1, 64))
	}
	return out, SameNumber(text, out)
}

// trimExponent turns Go's 1e-07 into JavaScript's 1e-7.
func trimExponent(text string) string {
	mantissa, exp, _ := strings.Cut(text, "e")
	return mantissa + "e" + exp[:1] + strings.TrimLeft(exp[1:], "0")
}
