package worker

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

const (
	maxConsoleLines = 200
	maxConsoleBytes = 64 << 10
)

// console keeps what a body prints. When it is full the rest is dropped, and the
// last line says so.
type console struct {
	lines []string
	bytes int
	full  bool
}

func (c *console) add(line string) {
	if c.full {
		return
	}
	if len(c.lines) >= maxConsoleLines || c.bytes >= maxConsoleBytes {
		c.full = true
		c.lines = append(c.lines, "(more was printed and dropped)")
		return
	}
	line = clip(line, maxConsoleBytes-c.bytes)
	c.lines = append(c.lines, line)
	c.bytes += len(line)
}

var (
	printing = []string{"log", "info", "warn", "error", "debug", "trace", "dir", "table", "group", "groupCollapsed"}
	silent   = []string{"groupEnd", "time", "timeEnd", "timeLog", "count", "countReset", "clear"}
)

// installConsole defines the global on first use only: most bodies print nothing,
// and twenty functions are a good part of a small evaluation.
func (ev *evaluation) installConsole() {
	vm, global := ev.vm, ev.vm.GlobalObject()
	define := func(value goja.Value) {
		_ = global.DefineDataProperty("console", value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	get := func(goja.FunctionCall) goja.Value {
		object := ev.makeConsole()
		define(object)
		return object
	}
	set := func(call goja.FunctionCall) goja.Value {
		define(call.Argument(0))
		return goja.Undefined()
	}
	_ = global.DefineAccessorProperty("console", native(vm, "console", 0, get), native(vm, "console", 1, set), goja.FLAG_TRUE, goja.FLAG_FALSE)
}

func (ev *evaluation) makeConsole() *goja.Object {
	object := ev.vm.NewObject()
	method := func(name string, f func(goja.FunctionCall) goja.Value) {
		_ = object.Set(name, native(ev.vm, name, 0, f))
	}
	for _, name := range printing {
		method(name, func(call goja.FunctionCall) goja.Value {
			ev.print(call.Arguments)
			return goja.Undefined()
		})
	}
	for _, name := range silent {
		method(name, func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	}
	method("assert", func(call goja.FunctionCall) goja.Value {
		if !call.Argument(0).ToBoolean() {
			failed := ev.vm.ToValue("Assertion failed")
			ev.print(append([]goja.Value{failed}, call.Arguments[min(1, len(call.Arguments)):]...))
		}
		return goja.Undefined()
	})
	return object
}

// print formats as Node does: a string is itself, a format in the first argument
// takes the next ones, everything else is inspected.
func (ev *evaluation) print(args []goja.Value) {
	if ev.console.full {
		return
	}
	var parts []string
	if len(args) > 1 {
		if format, ok := args[0].(goja.String); ok && strings.Contains(clipString(format, maxConsoleBytes), "%") {
			var first string
			first, args = ev.format(clipString(format, maxConsoleBytes), args[1:])
			parts = append(parts, first)
		}
	}
	for _, arg := range args {
		if text, ok := arg.(goja.String); ok {
			parts = append(parts, clipString(text, maxConsoleBytes))
			continue
		}
		parts = append(parts, ev.inspect(arg))
	}
	ev.console.add(strings.Join(parts, " "))
}

// format fills the directives of a format and gives the arguments left over.
func (ev *evaluation) format(format string, args []goja.Value) (string, []goja.Value) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		verb := format[i+1]
		switch {
		case verb == '%':
			b.WriteByte('%')
		case len(args) > 0 && strings.IndexByte("sdifjoOc", verb) >= 0:
			b.WriteString(ev.directive(verb, args[0]))
			args = args[1:]
		default:
			b.WriteByte('%')
			continue
		}
		i++
	}
	return b.String(), args
}

func (ev *evaluation) directive(verb byte, arg goja.Value) string {
	text, isText := arg.(goja.String)
	_, isObject := arg.(*goja.Object)
	switch {
	case verb == 'c':
		return ""
	case verb == 's' && isText:
		return clipString(text, maxConsoleBytes)
	case (verb == 'd' || verb == 'i' || verb == 'f') && isObject:
		return "NaN"
	case verb == 'i' && goja.IsNumber(arg):
		return strconv.FormatInt(arg.ToInteger(), 10)
	}
	return ev.inspect(arg)
}
