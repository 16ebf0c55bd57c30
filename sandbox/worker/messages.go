package worker

import (
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// wording puts one message of goja into V8's words. Bodies and their authors read
// messages, and know V8's. Where that names the code, place finds it in the source.
type wording struct {
	pattern *regexp.Regexp
	words   string // $1 and so on are the pattern's groups
	place   func(s *site) string
}

// wordings are tried in order.
var wordings = sync.OnceValue(func() []wording {
	of := func(pattern, words string, place func(s *site) string) wording {
		return wording{pattern: regexp.MustCompile(`(?s)^` + pattern + `$`), words: words, place: place}
	}
	return []wording{
		of(`Cannot read property '(.*)' of undefined( or null)?`, "Cannot read properties of @ (reading '$1')", (*site).nothing),
		of(`Object has no member '(.*)'`, "@ is not a function", (*site).called),
		of(`Value is not an object: (.*)`, "@", (*site).notObject),
		of(`Value is not a constructor`, "@ is not a constructor", (*site).constructed),
		of(`Not a function: (.*)`, "@ is not a function", (*site).called),
		of(`Cannot convert undefined or null to object`, "@", (*site).written),
		of(`object is not iterable`, "@ is not iterable", (*site).iterated),
		of(`Value is not object coercible`, "@", (*site).destructured),
		of(`Cannot access a variable before initialization`, "Cannot access '@' before initialization", (*site).name),
		of(`Class constructor cannot be invoked without 'new'`, "Class constructor @ cannot be invoked without 'new'", (*site).called),
		of(`toFixed\(\) precision must be between 0 and 100`, "toFixed() digits argument must be between 0 and 100", nil),
		of(`toExponential\(\) precision must be between 0 and 100`, "toExponential() argument must be between 0 and 100", nil),
		of(`toPrecision\(\) precision must be between 1 and 100`, "toPrecision() argument must be between 1 and 100", nil),
		of(`No initial value`, "Reduce of empty array with no initial value", nil),
		of(`(The normalization form should be one of .*NFKD)`, "$1.", nil),
		of(`Malformed URI`, "URI malformed", nil),
		of(`\[object (\w+)\] is not a function`, "#<$1> is not a function", nil),
		of(`Cannot convert ([-\d.e+]+) to a BigInt`, "The number $1 cannot be converted to a BigInt because it is not an integer", nil),
		of(`(Cannot delete property '.*' of) \[object (\w+)\]`, "$1 #<$2>", nil),
		of(`(Cannot assign to read only property '.*')`, "$1 of object '#<Object>'", nil),
		of(`Expecting a function in instanceof check, but got .*`, "Right-hand side of 'instanceof' is not callable", nil),
		of(`Must call super constructor in derived class before accessing 'this'`, "Must call super constructor in derived class before accessing 'this' or returning from derived constructor", nil),
		of(`Illegal generator state`, "Generator is already running", nil),
		of(`Constructor Promise requires 'new'`, "Promise constructor cannot be invoked without 'new'", nil),
		of(`Could not convert &\{.*\} .*to primitive`, "Cannot convert object to primitive value", nil),
	}
})

// translate puts the message of an error of the engine into V8's words, on the
// error itself. A message that the body spells out is its own.
func (ev *evaluation) translate(value goja.Value) {
	object, ok := value.(*goja.Object)
	if !ok || object.ExportType() == proxyType || object.ClassName() != "Error" || ev.program == nil {
		return
	}
	message, ok := object.Get("message").(goja.String)
	if !ok || message.Length() > maxMessageBytes {
		return
	}
	text := message.String()
	if text == "" {
		if name, ok := object.Get("name").(goja.String); ok && name.String() == "AggregateError" && strings.Contains(ev.program.author.source, "any") {
			hide(object, "message", ev.vm.ToValue("All promises were rejected"))
		}
		return
	}
	if strings.Contains(ev.program.author.source, text) {
		return
	}
	for _, w := range wordings() {
		if m := w.pattern.FindStringSubmatchIndex(text); m != nil {
			words := string(w.pattern.ExpandString(nil, w.words, text, m))
			if w.place != nil {
				words = strings.ReplaceAll(words, "@", w.place(ev.site(object, text)))
			}
			ev.reword(object, text, words)
			return
		}
	}
}

// reword sets a message, in the stack too.
func (ev *evaluation) reword(object *goja.Object, old, message string) {
	if message == "" {
		return
	}
	stack, _ := object.Get("stack").(goja.String)
	hide(object, "message", ev.vm.ToValue(message))
	if stack != nil && stack.Length() < maxConsoleBytes {
		hide(object, "stack", ev.vm.ToValue(strings.Replace(stack.String(), old, message, 1)))
	}
}

// installReactions has what promises reject with pass through translate too.
func (ev *evaluation) installReactions() {
	prototype := ev.vm.Get("Promise").(*goja.Object).Get("prototype").(*goja.Object)
	then, _ := goja.AssertFunction(prototype.Get("then"))
	hide(prototype, "then", native(ev.vm, "then", 2, func(c goja.FunctionCall) goja.Value {
		args := []goja.Value{c.Argument(0), c.Argument(1)}
		if react, ok := goja.AssertFunction(args[1]); ok {
			args[1] = ev.vm.ToValue(func(c goja.FunctionCall) goja.Value {
				ev.translate(c.Argument(0))
				value, err := react(c.This, c.Arguments...)
				if err != nil {
					panic(err)
				}
				return value
			})
		}
		value, err := then(c.This, args...)
		if err != nil {
			panic(err)
		}
		return value
	}))
}
