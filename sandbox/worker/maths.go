package worker

import (
	"strings"

	"github.com/bir-run/bir/sandbox/worker/v8math"
	"github.com/dop251/goja"
)

// mathsOf are the functions of Math that a source calls and whose last digits goja
// gets otherwise than Node. A source that hands Math on, or takes from it what it
// computes the name of, may call any.
func mathsOf(source string) map[string]bool {
	var found map[string]bool
	for rest := source; ; {
		_, after, ok := strings.Cut(rest, "Math")
		if !ok {
			return found
		}
		rest = after
		if found == nil {
			found = map[string]bool{}
		}
		after = strings.TrimLeft(after, " \t\r\n?")
		name, isProperty := strings.CutPrefix(after, ".")
		if !isProperty {
			return everyMath()
		}
		name = strings.TrimLeft(name, " \t\r\n")
		end := strings.IndexFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
		if end < 0 {
			end = len(name)
		}
		if end == 0 {
			return everyMath()
		}
		found[name[:end]] = true
	}
}

func everyMath() map[string]bool {
	all := map[string]bool{"atan2": true, "hypot": true, "pow": true}
	for _, f := range v8math.Functions() {
		all[f.Name] = true
	}
	return all
}

// installMaths puts ours in the place of the functions that a body calls.
func (ev *evaluation) installMaths() {
	called := ev.program.uses.maths
	maths := ev.vm.Get("Math").(*goja.Object)
	install := func(name string, length int, f func(goja.FunctionCall) float64) {
		if called[name] {
			hide(maths, name, native(ev.vm, name, length, func(c goja.FunctionCall) goja.Value { return ev.vm.ToValue(f(c)) }))
		}
	}
	for _, f := range v8math.Functions() {
		install(f.Name, 1, func(c goja.FunctionCall) float64 { return f.Of(c.Argument(0).ToFloat()) })
	}
	two := func(f func(x, y float64) float64) func(goja.FunctionCall) float64 {
		return func(c goja.FunctionCall) float64 {
			x := c.Argument(0).ToFloat()
			return f(x, c.Argument(1).ToFloat())
		}
	}
	install("atan2", 2, two(v8math.Atan2))
	install("pow", 2, two(v8math.Pow))
	install("hypot", 2, func(c goja.FunctionCall) float64 {
		numbers := make([]float64, len(c.Arguments))
		for i, argument := range c.Arguments {
			numbers[i] = argument.ToFloat()
		}
		return v8math.Hypot(numbers...)
	})
}
