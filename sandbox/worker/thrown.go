package worker

import (
	"regexp"
	"sync"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/dop251/goja"
)

// maxMessageBytes bounds what a body says when it throws.
const maxMessageBytes = 1 << 10

// thrown describes a thrown value. Reading its name and message runs the body's
// getters, so it happens inside the guest, under what is left of the deadline.
func (ev *evaluation) thrown(value goja.Value, stack []goja.StackFrame) *wire.Failure {
	line, column := ev.position(stack)
	guest, _ := goja.AssertFunction(ev.vm.ToValue(func(goja.FunctionCall) goja.Value {
		return ev.vm.ToValue(ev.describe(value))
	}))
	message := "threw a value that cannot be read"
	if text, err := guest(goja.Undefined()); err == nil {
		message = text.String()
	}
	if stopped := ev.stopFailure(stack); stopped != nil {
		return stopped
	}
	return &wire.Failure{Type: typeThrow, Message: explainAbsent(message), Line: line, Column: column}
}

func (ev *evaluation) describe(value goja.Value) string {
	ev.translate(value)
	object, ok := value.(*goja.Object)
	if !ok || object.ExportType() == proxyType {
		return "threw " + ev.inspect(value)
	}
	name, hasName := object.Get("name").(goja.String)
	message, hasMessage := object.Get("message").(goja.String)
	switch {
	case hasName && hasMessage && message.Length() > 0:
		return clipString(name, maxMessageBytes) + ": " + clipString(message, maxMessageBytes)
	case hasName && hasMessage:
		return clipString(name, maxMessageBytes)
	case hasMessage:
		return "Error: " + clipString(message, maxMessageBytes)
	}
	return clip("threw "+ev.inspect(value), maxMessageBytes)
}

// absent says why a global of the host is not there. typeof stays "undefined", as
// feature tests expect; only the error of a use is explained.
var absent = map[string]string{
	"fetch":                "bodies cannot reach the network",
	"XMLHttpRequest":       "bodies cannot reach the network",
	"WebSocket":            "bodies cannot reach the network",
	"EventSource":          "bodies cannot reach the network",
	"process":              "bodies cannot reach the process or its environment",
	"require":              "bodies cannot load modules",
	"module":               "bodies cannot load modules",
	"exports":              "bodies cannot load modules",
	"__dirname":            "bodies cannot reach files",
	"__filename":           "bodies cannot reach files",
	"setTimeout":           "bodies cannot wait",
	"setInterval":          "bodies cannot wait",
	"setImmediate":         "bodies cannot wait",
	"clearTimeout":         "bodies cannot wait",
	"clearInterval":        "bodies cannot wait",
	"SharedArrayBuffer":    "bodies cannot share memory",
	"Atomics":              "bodies cannot share memory",
	"WebAssembly":          "bodies cannot compile other code",
	"Worker":               "bodies cannot start threads",
	"WeakRef":              "bodies cannot watch the garbage collector",
	"FinalizationRegistry": "bodies cannot watch the garbage collector",
	"localStorage":         "bodies keep nothing",
	"crypto":               "bodies have no source of randomness but Math.random, which the plan seeds",
}

var notDefined = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ReferenceError: ([A-Za-z_$][\w$]*) is not defined$`)
})

func explainAbsent(message string) string {
	if m := notDefined().FindStringSubmatch(message); m != nil {
		if why, ok := absent[m[1]]; ok {
			return message + ": " + why
		}
	}
	return message
}
