package worker

import (
	"fmt"
	"math"
	"strings"
	"unicode"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/collation"
	"github.com/bir-run/bir/sandbox/worker/intl/dates"
	"github.com/bir-run/bir/sandbox/worker/intl/numbers"
	"github.com/dop251/goja"
)

// patch puts a method of ours on a builtin's prototype. It is given goja's own.
func (l *locales) patch(builtin, name string, length int, call func(c goja.FunctionCall, own goja.Callable) goja.Value) {
	prototype := l.prototype(builtin)
	own, _ := goja.AssertFunction(prototype.Get(name))
	f := native(l.vm, name, length, func(c goja.FunctionCall) goja.Value { return call(c, own) })
	_ = prototype.DefineDataProperty(name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (l *locales) prototype(builtin string) *goja.Object {
	return l.vm.Get(builtin).(*goja.Object).Get("prototype").(*goja.Object)
}

// must is the value of a call that threw nothing.
func must(value goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return value
}

func (l *locales) patchNumbers() {
	for _, builtin := range []string{"Number", "BigInt"} {
		valueOf, _ := goja.AssertFunction(l.prototype(builtin).Get("valueOf"))
		l.patch(builtin, "toLocaleString", 0, func(c goja.FunctionCall, _ goja.Callable) goja.Value {
			value, err := valueOf(c.This)
			if err != nil {
				panic(l.vm.NewTypeError("%[1]s.prototype.toLocaleString requires that 'this' be a %[1]s", builtin))
			}
			format, failed := numbers.New(l.request(c, 0, builtin+".prototype.toLocaleString"))
			l.throw(failed)
			return l.vm.ToValue(format.Format(l.number(value)))
		})
	}
}

// dateDefaults are the fields that the methods of Date show.
var dateDefaults = map[string]dates.Defaults{
	"toLocaleString":     {Required: "any", Fill: "all"},
	"toLocaleDateString": {Required: "date", Fill: "date"},
	"toLocaleTimeString": {Required: "time", Fill: "time"},
}

func (l *locales) patchDates() {
	valueOf, _ := goja.AssertFunction(l.prototype("Date").Get("valueOf"))
	for name, defaults := range dateDefaults {
		l.patch("Date", name, 0, func(c goja.FunctionCall, _ goja.Callable) goja.Value {
			value, err := valueOf(c.This)
			if err != nil {
				panic(l.vm.NewTypeError("Method Date.prototype.%s called on incompatible receiver %s", name, received(c.This)))
			}
			ms := value.ToFloat()
			if math.IsNaN(ms) {
				return l.vm.ToValue("Invalid Date")
			}
			format, failed := dates.New(l.request(c, 0, "Date.prototype."+name), defaults, l.ev.req.Zone)
			l.throw(failed)
			text, failed := format.Format(ms)
			l.throw(failed)
			return l.vm.ToValue(text)
		})
	}
}

func (l *locales) patchCompare() {
	l.patch("String", "localeCompare", 1, func(c goja.FunctionCall, own goja.Callable) goja.Value {
		l.receiver(c.This, "localeCompare")
		if goja.IsUndefined(c.Argument(1)) && goja.IsUndefined(c.Argument(2)) {
			return must(own(c.This, c.Arguments...))
		}
		a, b := c.This.ToString().String(), c.Argument(0).ToString().String()
		collator, err := l.collator(l.request(c, 1, "String.prototype.localeCompare"))
		l.throw(err)
		return l.vm.ToValue(collator.Compare(a, b))
	})
}

func (l *locales) patchCases() {
	l.patchCase("toLocaleUpperCase", func(s string) string { return strings.ToUpperSpecial(unicode.TurkishCase, s) })
	l.patchCase("toLocaleLowerCase", func(s string) string {
		return strings.ToLowerSpecial(unicode.TurkishCase, strings.ReplaceAll(s, "I\u0307", "i"))
	})
}

func (l *locales) receiver(this goja.Value, name string) {
	if goja.IsUndefined(this) || goja.IsNull(this) {
		panic(l.vm.NewTypeError("String.prototype.%s called on null or undefined", name))
	}
}

// patchCase gives a method its languages: those of the Turks have letters of their
// own; Lithuanian and Greek would have more to heed.
func (l *locales) patchCase(name string, turkish func(string) string) {
	l.patch("String", name, 0, func(c goja.FunctionCall, own goja.Callable) goja.Value {
		l.receiver(c.This, name)
		tags := l.requested(c.Argument(0))
		language := ""
		if len(tags) > 0 {
			language, _, _ = strings.Cut(tags[0], "-")
		}
		switch language {
		case "tr", "az":
			return l.vm.ToValue(turkish(c.This.ToString().String()))
		case "lt", "el":
			l.throw(&intl.Error{Kind: "RangeError", Message: fmt.Sprintf("%s for %s is not available to bodies", name, tags[0])})
		}
		return must(own(c.This))
	})
}

// collator opens a collator, or finds the same one opened before: a sort asks for it
// at each of its comparisons.
func (l *locales) collator(q intl.Request) (*collation.Collator, *intl.Error) {
	made, err := collation.New(q)
	if err != nil {
		return nil, err
	}
	key := made.Key()
	if l.collators[key] == nil {
		l.collators[key] = made
	}
	return l.collators[key], nil
}

func (l *locales) patchArrays() {
	l.patch("Array", "toLocaleString", 0, func(c goja.FunctionCall, _ goja.Callable) goja.Value {
		list := c.This.ToObject(l.vm)
		if l.joining[list] {
			return l.vm.ToValue("") // it is inside itself
		}
		l.joining[list] = true
		defer delete(l.joining, list)
		var out strings.Builder
		for i := range lengthOf(list) {
			if l.ev.stopped.Load() != int32(notStopped) {
				return goja.Undefined() // the interrupt ends the body before it sees this
			}
			if i > 0 {
				out.WriteByte(',')
			}
			item := list.Get(l.vm.ToValue(i).String())
			if item == nil || goja.IsUndefined(item) || goja.IsNull(item) {
				continue
			}
			method, ok := goja.AssertFunction(item.ToObject(l.vm).Get("toLocaleString"))
			if !ok {
				panic(l.vm.NewTypeError("toLocaleString is not a function"))
			}
			out.WriteString(must(method(item, c.Arguments...)).ToString().String())
		}
		return l.vm.ToValue(out.String())
	})
}
