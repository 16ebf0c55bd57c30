package worker

import (
	"math"
	"strings"

	"github.com/dop251/goja"
)

// uses are the builtins that a body names and that need a guard of ours. A body
// that hides a name, say in a computed key, is still held by the memory cap.
type uses struct {
	sizes   bool
	locales bool
	dates   bool
	regexps bool
	json    bool

	lastMatch bool
	radix     bool
	integers  bool
	code      bool
	reactions bool
	maths     map[string]bool
	features  []*feature
}

func usesOf(source string) uses {
	return uses{
		sizes:     strings.Contains(source, "repeat") || strings.Contains(source, "pad"),
		locales:   strings.Contains(source, "toLocale") || strings.Contains(source, "localeCompare") || strings.Contains(source, "Intl"),
		dates:     strings.Contains(source, "Date"),
		features:  featuresOf(source),
		maths:     mathsOf(source),
		reactions: strings.Contains(source, ".then") || strings.Contains(source, ".catch") || strings.Contains(source, "allSettled"),
		radix:     writesRadix(source),
		code:      makesCode(source),
		integers:  strings.Contains(source, "parseInt"),
		lastMatch: strings.Contains(source, "RegExp") && lastMatchName().MatchString(source),
		json:      strings.Contains(source, "parse"),
		regexps:   strings.Contains(source, "RegExp") || strings.Contains(source, "match") || strings.Contains(source, "search"),
	}
}

func (ev *evaluation) guardBuiltins() {
	if ev.program.uses.code {
		ev.installMadeCode()
	}
	if ev.program.uses.sizes {
		ev.guardSizes()
	}
	if ev.program.uses.locales {
		ev.installLocales()
	}
	if ev.program.uses.dates {
		ev.installDateText()
	}
	if len(ev.program.uses.maths) > 0 {
		ev.installMaths()
	}
	if ev.program.uses.radix {
		ev.installRadix()
	}
	if ev.program.uses.integers {
		ev.installParseInt()
	}
	if ev.program.uses.reactions {
		ev.installReactions()
	}
	if ev.program.uses.json {
		ev.installJSON()
	}
	if ev.program.uses.regexps {
		ev.installRegExp()
	}
}

// guard puts check in front of a method of a builtin's prototype.
func (ev *evaluation) guard(builtin, method string, check func(goja.FunctionCall)) {
	prototype := ev.vm.Get(builtin).(*goja.Object).Get("prototype").(*goja.Object)
	own := prototype.Get(method).(*goja.Object)
	call, _ := goja.AssertFunction(own)
	guarded := native(ev.vm, method, int(own.Get("length").ToInteger()), func(c goja.FunctionCall) goja.Value {
		check(c)
		if ev.stopped.Load() != int32(notStopped) {
			return goja.Undefined() // the interrupt ends the body before it sees this
		}
		value, err := call(c.This, c.Arguments...)
		if err != nil {
			panic(err)
		}
		return value
	})
	_ = prototype.DefineDataProperty(method, guarded, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// guardSizes ends a body that asks for one string over its memory before the
// string is made, so that the worker lives on.
func (ev *evaluation) guardSizes() {
	ev.guard("String", "repeat", func(c goja.FunctionCall) {
		count := c.Argument(0).ToFloat()
		if count < 0 || math.IsInf(count, 0) {
			panic(ev.newError("RangeError", "Invalid count value: "+c.Argument(0).String()))
		}
		if text, ok := c.This.(goja.String); ok && count > 0 {
			ev.needs(float64(text.Length()) * count)
		}
	})
	for _, pad := range []string{"padStart", "padEnd"} {
		ev.guard("String", pad, func(c goja.FunctionCall) { ev.needs(c.Argument(0).ToFloat()) })
	}
}

func (ev *evaluation) needs(bytes float64) {
	if bytes > float64(ev.limits.MemoryBytes) {
		ev.stopFor(stoppedMemory)
	}
}
