package cases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Diff says where two JSON texts first differ in value, or nothing where they do
// not: keys may be in any order, and 1.0 is 1, but no number is rounded.
func Diff(want, got json.RawMessage) string {
	w, err := parse(want)
	if err != nil {
		return "the expected value is not JSON: " + err.Error()
	}
	g, err := parse(got)
	if err != nil {
		return "the result is not JSON: " + err.Error()
	}
	return diff("result", w, g)
}

// parse keeps numbers as text, since a float64 would round them.
func parse(text json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var value any
	err := dec.Decode(&value)
	return value, err
}

func diff(path string, want, got any) string {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			return diffObjects(path, w, g)
		}
	case []any:
		if g, ok := got.([]any); ok {
			return diffLists(path, w, g)
		}
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(w, g) {
			return ""
		}
	default:
		if want == got {
			return ""
		}
	}
	return fmt.Sprintf("%s is %s, expected %s", path, show(got), show(want))
}

func diffObjects(path string, want, got map[string]any) string {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		inner, ok := got[key]
		if !ok {
			return fmt.Sprintf("%s is missing, expected %s", join(path, key), show(want[key]))
		}
		if d := diff(join(path, key), want[key], inner); d != "" {
			return d
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			return fmt.Sprintf("%s is %s, expected nothing there", join(path, key), show(got[key]))
		}
	}
	return ""
}

func diffLists(path string, want, got []any) string {
	for i := range min(len(want), len(got)) {
		if d := diff(fmt.Sprintf("%s[%d]", path, i), want[i], got[i]); d != "" {
			return d
		}
	}
	if len(want) != len(got) {
		return fmt.Sprintf("%s has %d items, expected %d", path, len(got), len(want))
	}
	return ""
}

// maxExponent bounds what an exact comparison computes: 1e999999999 is a number in
// JSON, and as a fraction it would take all memory.
const maxExponent = 400

func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	if exponent(a) > maxExponent || exponent(b) > maxExponent {
		return false
	}
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	return okX && okY && x.Cmp(y) == 0
}

func exponent(n json.Number) int {
	_, text, ok := strings.Cut(strings.ToLower(n.String()), "e")
	if !ok {
		return 0
	}
	e, err := strconv.Atoi(text)
	if err != nil {
		return maxExponent + 1
	}
	return max(e, -e)
}

var plainKey = regexp.MustCompile(`^[A-Za-z_$][\w$]*$`)

func join(path, key string) string {
	if plainKey.MatchString(key) {
		return path + "." + key
	}
	return fmt.Sprintf("%s[%q]", path, key)
}

const maxShown = 80

func show(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(text) > maxShown {
		return string(bytes.ToValidUTF8(text[:maxShown], nil)) + "…"
	}
	return string(text)
}
