package worker

import (
	"strings"
	"sync"

	"github.com/bir-run/bir/sandbox/worker/v8math"
	"github.com/dop251/goja"
)

// mathsOf are the functions of Math that a source calls and whose last digits goja
// gets otherwise than Node. A source that hands Math on, or takes from it what it
// computes the name of, may call any.
func mathsOf(source string) map[string]bool {
	var found map[string]bool
	every := everyMath()
	for rest := source; ; {
		_, after, ok := strings.Cut(rest, "Math")
		if !ok {
			return found
		}
		rest = after
		after = strings.TrimLeft(after, " \t\r\n?")
		name, isProperty := strings.CutPrefix(after, ".")
		if !isProperty {
			return every
		}
		name = strings.TrimLeft(name, " \t\r\n")
		end := strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 || !isNameByte(byte(r)) })
		if end < 0 {
			end = len(name)
		}
		switch {
		case end == 0:
			return every
		case every[name[:end]] && found == nil:
			found = map[string]bool{name[:end]: true}
		case every[name[:end]]:
			found[name[:end]] = true
		}
	}
}

var everyMath = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"atan2": true, "hypot": true, "pow": true}
	for _, f := range v8math.Functions() {
		all[f.Name] = true
	}
	return all
})

// installMaths puts ours in the place of the functions that a body calls.
func (ev *evaluation) installMaths() {
	called := ev.program.uses.maths
	maths := ev.vm.Get("Math").(*goja.Object)
	install := func(name string, length int, f func(goja.FunctionCall) float64) {
		hide(maths, name, native(ev.vm, name, length, func(c goja.FunctionCall) goja.Value { return ev.vm.ToValue(f(c)) }))
	}
	for _, f := range v8math.Functions() {
		if called[f.Name] {
			install(f.Name, 1, func(c goja.FunctionCall) float64 { return f.Of(c.Argument(0).ToFloat()) })
		}
	}
	for name, f := range map[string]func(x, y float64) float64{"atan2": v8math.Atan2, "pow": v8math.Pow} {
		if called[name] {
			install(name, 2, func(c goja.FunctionCall) float64 {
				x := c.Argument(0).ToFloat()
				return f(x, c.Argument(1).ToFloat())
			})
		}
	}
	if called["hypot"] {
		install("hypot", 2, func(c goja.FunctionCall) float64 {
			numbers := make([]float64, len(c.Arguments))
			for i, argument := range c.Arguments {
				numbers[i] = argument.ToFloat()
			}
			return v8math.Hypot(numbers...)
		})
	}
}
