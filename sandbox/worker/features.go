package worker

import (
	"strings"
	"sync"

	"github.com/bir-run/bir/sandbox/worker/prelude"
	"github.com/dop251/goja"
)

// feature is a part of Node that the interpreter lacks. It is defined before a body
// that mentions one of its words; other bodies pay nothing. A body that hides a name
// in a computed key does not see it.
type feature struct {
	file  string // in package prelude
	words string
	needs string // the file of a feature that it uses itself
	found func(words map[string]bool, source string) bool
	load  func() (*goja.Program, error)
}

// features are in the order in which they are defined.
var features = sync.OnceValue(func() []*feature {
	all := []*feature{
		{file: "language.js", words: "asyncIterator dispose asyncDispose using SuppressedError", found: asyncGenerators},
		{file: "global.js", words: "global"},
		{file: "microtask.js", words: "queueMicrotask"},
		{file: "performance.js", words: "performance"},
		{file: "group.js", words: "groupBy"},
		{file: "promise.js", words: "withResolvers", found: promiseTry},
		{file: "fromasync.js", words: "fromAsync"},
		{file: "iterator.js", words: "Iterator iterator yield take drop toArray matchAll", found: iterators},
		{file: "string.js", words: "isWellFormed toWellFormed anchor big blink bold fixed fontcolor fontsize italics link small strike sub sup"},
		{file: "object.js", words: "__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__"},
		{file: "regexp.js", words: "escape"},
		{file: "error.js", words: "captureStackTrace stackTraceLimit"},
		{file: "numeric.js", words: "f16round"},
		{file: "weak.js", words: "WeakMap WeakSet"},
		{file: "buffers.js", words: "maxByteLength resizable transfer transferToFixedLength"},
		{file: "exception.js"}, // a class that others throw, and no global unless named
		{file: "exceptionglobal.js", words: "DOMException", needs: "exception.js"},
		{file: "clone.js", words: "structuredClone", needs: "exception.js"},
		{file: "events.js", words: "AbortController AbortSignal EventTarget Event CustomEvent", needs: "exception.js"},
		{file: "encoding.js", words: "TextEncoder TextDecoder atob btoa", needs: "exception.js"},
		{file: "url.js", words: "URL URLSearchParams"},
		{file: "buffer.js", words: "Buffer"},
	}
	for _, f := range all {
		f.load = sync.OnceValues(f.compile)
	}
	return all
})

func asyncGenerators(words map[string]bool, _ string) bool { return words["async"] && words["yield"] }

func promiseTry(words map[string]bool, _ string) bool { return words["Promise"] && words["try"] }

// iterators finds calls that give an iterator. Those of Object give arrays.
func iterators(_ map[string]bool, source string) bool {
	for _, call := range []string{".values(", ".keys(", ".entries("} {
		for rest := source; ; {
			before, after, found := strings.Cut(rest, call)
			if !found {
				break
			}
			if !strings.HasSuffix(before, "Object") {
				return true
			}
			rest = after
		}
	}
	return false
}

func (f *feature) compile() (*goja.Program, error) {
	source, err := prelude.Files.ReadFile(f.file)
	if err != nil {
		return nil, err
	}
	return goja.Compile(f.file, string(source), true)
}

func (f *feature) usedIn(words map[string]bool, source string) bool {
	for word := range strings.FieldsSeq(f.words) {
		if words[word] {
			return true
		}
	}
	return f.found != nil && f.found(words, source)
}

// featuresOf are those that a body mentions, and what they need, in order.
func featuresOf(source string) []*feature {
	words := wordsOf(source)
	wanted := map[string]bool{}
	for _, f := range features() {
		if f.usedIn(words, source) {
			wanted[f.file], wanted[f.needs] = true, true
		}
	}
	var found []*feature
	for _, f := range features() {
		if wanted[f.file] {
			found = append(found, f)
		}
	}
	return found
}

// wordsOf are the names in a source, and what looks like one in its texts.
func wordsOf(source string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsFuncSeq(source, func(r rune) bool { return r < 0x80 && !isNameByte(byte(r)) }) {
		words[word] = true
	}
	return words
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
}

// installFeatures defines what the body mentions.
func (ev *evaluation) installFeatures() error {
	if len(ev.program.uses.features) == 0 {
		return nil
	}
	helpers := ev.helpers()
	for _, f := range ev.program.uses.features {
		code, err := f.load()
		if err != nil {
			return err
		}
		made, err := ev.vm.RunProgram(code)
		if err != nil {
			return err
		}
		install, _ := goja.AssertFunction(made)
		if _, err := install(goja.Undefined(), helpers); err != nil {
			return err
		}
	}
	return nil
}
