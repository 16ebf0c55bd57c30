package pinguard

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bir-run/bir/sandbox/internal/rawjson"
)

// callID is the argument that correlation adds to a call. It is no part of what the
// call does.
const callID = "__bir_call_id__"

// readArguments reads an object; nothing at all stands for an empty one.
func readArguments(raw []byte) (map[string]any, bool) {
	if len(raw) == 0 {
		return map[string]any{}, true
	}
	v, err := rawjson.Parse(raw)
	args, ok := v.(map[string]any)
	if err != nil || !ok {
		return nil, false
	}
	delete(args, callID)
	return args, true
}

// same compares two values. Numbers are compared by their digits, so that long ids
// are told apart.
func same(a, b any) bool {
	switch a := a.(type) {
	case rawjson.Number:
		b, ok := b.(rawjson.Number)
		return ok && digits(a) == digits(b)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// digits is the number without what does not change it: 1.50 is 1.5.
func digits(n rawjson.Number) string {
	text := string(n)
	if strings.ContainsRune(text, '.') && !strings.ContainsAny(text, "eE") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// says tells whether a value is more than a switch or nothing.
func says(v any) bool {
	switch v := v.(type) {
	case string:
		return v != ""
	case rawjson.Number:
		return true
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// ordered goes through an object by key, so that the same question gets the same
// words each time.
func ordered(m map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// keysOf lists the keys of both.
func keysOf(a, b map[string]any) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

const maxShownBytes = 40

// quoted shows the name of an argument.
func quoted(name string) string {
	if len(name) > maxShownBytes {
		name = name[:maxShownBytes] + "…"
	}
	return strconv.Quote(name)
}
