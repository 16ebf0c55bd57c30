package worker

import (
	"fmt"
	"math"
	"regexp"
	"sync"
	"time"

	"github.com/bir-run/bir/sandbox/worker/intl/dates"
	"github.com/dop251/goja"
)

// commaFraction is a time of day that goja reads and Node does not.
var commaFraction = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d:\d\d,\d`) })

// installDateText gives dates the text that they have in Node: the zone by its name
// and not by its letters, years before 1 with six digits.
func (ev *evaluation) installDateText() {
	l := ev.newLocales()
	valueOf, _ := goja.AssertFunction(l.prototype("Date").Get("valueOf"))
	patch := func(name string, text func(ms float64) string) {
		l.patch("Date", name, 0, func(c goja.FunctionCall, own goja.Callable) goja.Value {
			value, err := valueOf(c.This)
			if err != nil {
				panic(l.vm.NewTypeError("Method Date.prototype.%s called on incompatible receiver %s", name, received(c.This)))
			}
			ms := value.ToFloat()
			if math.IsNaN(ms) {
				return must(own(c.This))
			}
			return l.vm.ToValue(text(ms))
		})
	}
	patch("toString", ev.dateText)
	patch("toTimeString", func(ms float64) string { return localTime(ms).Format("15:04:05 GMT-0700") + ev.zoneText(ms) })
	patch("toISOString", isoText)
	ev.wrapDate(l)
}

func localTime(ms float64) time.Time { return time.UnixMilli(int64(ms)).Local() }

func (ev *evaluation) dateText(ms float64) string {
	return localTime(ms).Format("Mon Jan 02 2006 15:04:05 GMT-0700") + ev.zoneText(ms)
}

func (ev *evaluation) zoneText(ms float64) string {
	return " (" + dates.ZoneName(ev.req.Zone, ms) + ")"
}

func isoText(ms float64) string {
	t := time.UnixMilli(int64(ms)).UTC()
	text := t.Format("-01-02T15:04:05.000Z")
	if year := t.Year(); year < 0 || year > 9999 {
		return fmt.Sprintf("%+07d", year) + text
	}
	return fmt.Sprintf("%04d", t.Year()) + text
}

// isInstance is what instanceof asks, which goja cannot ask a proxy.
func isInstance(value, of goja.Value) bool {
	constructor, isFunction := of.(*goja.Object)
	object, isObject := value.(*goja.Object)
	if !isFunction || !isObject {
		return false
	}
	prototype := constructor.Get("prototype")
	for object = object.Prototype(); object != nil; object = object.Prototype() {
		if object.SameAs(prototype) {
			return true
		}
	}
	return false
}

// wrapDate corrects the function Date itself, which only a proxy can do and leave its
// subclasses working.
func (ev *evaluation) wrapDate(l *locales) {
	date := ev.vm.Get("Date").(*goja.Object)
	construct, _ := goja.AssertFunction(ev.vm.Get("Reflect").(*goja.Object).Get("construct"))
	parse, _ := goja.AssertFunction(date.Get("parse"))
	wrapped := ev.vm.ToValue(ev.vm.NewProxy(date, &goja.ProxyTrapConfig{
		Apply: func(*goja.Object, goja.Value, []goja.Value) goja.Value {
			return ev.vm.ToValue(ev.dateText(float64(ev.req.Now.UnixMilli())))
		},
		Construct: func(target *goja.Object, args []goja.Value, newTarget *goja.Object) *goja.Object {
			if len(args) == 1 && goja.IsString(args[0]) && commaFraction().MatchString(args[0].String()) {
				args = []goja.Value{goja.NaN()}
			}
			list := make([]any, len(args))
			for i, arg := range args {
				list[i] = arg
			}
			return must(construct(goja.Undefined(), target, ev.vm.NewArray(list...), newTarget)).(*goja.Object)
		},
	}))
	define := func(on *goja.Object, name string, value goja.Value) {
		_ = on.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	define(date, "parse", native(ev.vm, "parse", 1, func(c goja.FunctionCall) goja.Value {
		text := c.Argument(0).ToString()
		if commaFraction().MatchString(text.String()) {
			return goja.NaN()
		}
		return must(parse(goja.Undefined(), text))
	}))
	define(l.prototype("Date"), "constructor", wrapped)
	_ = date.DefineDataPropertySymbol(goja.SymHasInstance, native(ev.vm, "[Symbol.hasInstance]", 1, func(c goja.FunctionCall) goja.Value {
		return ev.vm.ToValue(isInstance(c.Argument(0), c.This))
	}), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	define(ev.vm.GlobalObject(), "Date", wrapped)
}
