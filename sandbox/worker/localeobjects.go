package worker

import (
	"runtime"
	"strings"
	"weak"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/collation"
	"github.com/bir-run/bir/sandbox/worker/intl/dates"
	"github.com/bir-run/bir/sandbox/worker/intl/decimal"
	"github.com/bir-run/bir/sandbox/worker/intl/numbers"
	"github.com/dop251/goja"
)

// service is one constructor of Intl.
type service struct {
	name        string
	isCall      bool // works without new
	needsObject bool // of options
	open        func(l *locales, q intl.Request) (any, *intl.Error)
	bound       *method // a getter that gives a function of the object
	methods     []method
}

type method struct {
	name   string
	length int
	call   func(l *locales, self any, c goja.FunctionCall) goja.Value
}

// resolver is every object of Intl.
type resolver interface {
	Resolved() []intl.Resolved
}

var services = []*service{
	{
		name: "NumberFormat", isCall: true,
		open: func(_ *locales, q intl.Request) (any, *intl.Error) {
			return opened(numbers.New(q))
		},
		bound: &method{"format", 1, func(l *locales, self any, c goja.FunctionCall) goja.Value {
			return l.vm.ToValue(self.(*numbers.Format).Format(l.number(c.Argument(0))))
		}},
		methods: []method{{"formatToParts", 1, func(l *locales, self any, c goja.FunctionCall) goja.Value {
			return l.parts(self.(*numbers.Format).Parts(l.number(c.Argument(0))))
		}}, noRange("formatRange"), noRange("formatRangeToParts")},
	},
	{
		name: "DateTimeFormat", isCall: true,
		open: func(l *locales, q intl.Request) (any, *intl.Error) {
			return opened(dates.New(q, dates.Defaults{Required: "any", Fill: "date"}, l.ev.req.Zone))
		},
		bound: &method{"format", 1, func(l *locales, self any, c goja.FunctionCall) goja.Value {
			text, err := self.(*dates.Format).Format(l.time(c.Argument(0)))
			l.throw(err)
			return l.vm.ToValue(text)
		}},
		methods: []method{{"formatToParts", 1, func(l *locales, self any, c goja.FunctionCall) goja.Value {
			parts, err := self.(*dates.Format).Parts(l.time(c.Argument(0)))
			l.throw(err)
			return l.parts(parts)
		}}, noRange("formatRange"), noRange("formatRangeToParts")},
	},
	{
		name: "PluralRules",
		open: func(_ *locales, q intl.Request) (any, *intl.Error) {
			return opened(numbers.NewPluralRules(q))
		},
		methods: []method{{"select", 1, func(l *locales, self any, c goja.FunctionCall) goja.Value {
			return l.vm.ToValue(self.(*numbers.PluralRules).Select(decimal.FromFloat(c.Argument(0).ToFloat())))
		}}, noRange("selectRange")},
	},
	{
		name: "Collator", isCall: true,
		open: func(l *locales, q intl.Request) (any, *intl.Error) { return opened(l.collator(q)) },
		bound: &method{"compare", 2, func(l *locales, self any, c goja.FunctionCall) goja.Value {
			return l.vm.ToValue(self.(*collation.Collator).Compare(c.Argument(0).ToString().String(), c.Argument(1).ToString().String()))
		}},
	},
	{
		name: "RelativeTimeFormat",
		open: func(_ *locales, q intl.Request) (any, *intl.Error) {
			return opened(numbers.NewRelativeTimeFormat(q))
		},
		methods: []method{
			{"format", 2, func(l *locales, self any, c goja.FunctionCall) goja.Value {
				text := ""
				for _, p := range l.relative(self, c, "format") {
					text += p.Value
				}
				return l.vm.ToValue(text)
			}},
			{"formatToParts", 2, func(l *locales, self any, c goja.FunctionCall) goja.Value {
				var items []any
				for _, p := range l.relative(self, c, "formatToParts") {
					item := l.part(p.Part)
					if p.Unit != "" {
						_ = item.Set("unit", p.Unit)
					}
					items = append(items, item)
				}
				return l.vm.NewArray(items...)
			}},
		},
	},
	{
		name: "ListFormat", needsObject: true,
		open: func(_ *locales, q intl.Request) (any, *intl.Error) {
			return opened(numbers.NewListFormat(q))
		},
		methods: []method{
			{"format", 1, func(l *locales, self any, c goja.FunctionCall) goja.Value {
				return l.vm.ToValue(intl.Text(self.(*numbers.ListFormat).Parts(l.items(c.Argument(0)))))
			}},
			{"formatToParts", 1, func(l *locales, self any, c goja.FunctionCall) goja.Value {
				return l.parts(self.(*numbers.ListFormat).Parts(l.items(c.Argument(0))))
			}},
		},
	},
}

// opened keeps a nil pointer from looking like a value.
func opened[T any](value *T, err *intl.Error) (any, *intl.Error) { return value, err }

// noRange is a method that is not to be had.
func noRange(name string) method {
	return method{name, 2, func(l *locales, _ any, _ goja.FunctionCall) goja.Value {
		panic(l.vm.NewTypeError("%s is not available to bodies: format both ends instead", name))
	}}
}

// absentServices are the constructors of Intl that bodies do not have.
var absentServices = []string{"Locale", "DisplayNames", "Segmenter"}

// namespace is the object Intl.
func (l *locales) namespace() goja.Value {
	object := l.vm.NewObject()
	_ = object.DefineDataPropertySymbol(goja.SymToStringTag, l.vm.ToValue("Intl"), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	define := func(name string, length int, f func(goja.FunctionCall) goja.Value) {
		_ = object.DefineDataProperty(name, native(l.vm, name, length, f), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	define("getCanonicalLocales", 1, func(c goja.FunctionCall) goja.Value {
		return l.texts(l.requested(c.Argument(0)))
	})
	define("supportedValuesOf", 1, func(c goja.FunctionCall) goja.Value {
		values, err := intl.SupportedValues(c.Argument(0).ToString().String())
		l.throw(err)
		return l.texts(values)
	})
	source := l.ev.program.author.source
	byName := !strings.Contains(source, "Intl[") && !strings.Contains(source, "(Intl")
	for _, s := range services {
		if byName && !strings.Contains(source, s.name) {
			continue // the body cannot ask for it: making the property is most of the work
		}
		l.lazy(object, s.name, func() goja.Value { return l.constructor(s) })
	}
	for _, name := range absentServices {
		if byName && !strings.Contains(source, name) {
			continue
		}
		l.lazy(object, name, func() goja.Value {
			panic(l.vm.NewTypeError("Intl.%s is not available to bodies", name))
		})
	}
	return object
}

// constructor makes a service's function and its prototype.
func (l *locales) constructor(s *service) goja.Value {
	prototype := l.vm.NewObject()
	own := l.vm.ToValue(func(c goja.ConstructorCall) *goja.Object { return l.construct(s, prototype, c) }).(*goja.Object)
	fixed := func(o *goja.Object, name string, value any) {
		_ = o.DefineDataProperty(name, l.vm.ToValue(value), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	fixed(own, "name", s.name)
	fixed(own, "length", 0)
	_ = own.DefineDataProperty("prototype", prototype, goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	_ = own.DefineDataProperty("supportedLocalesOf", native(l.vm, "supportedLocalesOf", 1, func(c goja.FunctionCall) goja.Value {
		return l.texts(intl.SupportedLocales(l.requested(c.Argument(0))))
	}), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = prototype.DefineDataProperty("constructor", own, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = prototype.DefineDataPropertySymbol(goja.SymToStringTag, l.vm.ToValue("Intl."+s.name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	l.method(s, prototype, method{"resolvedOptions", 0, func(l *locales, self any, _ goja.FunctionCall) goja.Value {
		return l.resolved(self.(resolver).Resolved())
	}})
	for _, m := range s.methods {
		l.method(s, prototype, m)
	}
	if s.bound != nil {
		get := native(l.vm, "get "+s.bound.name, 0, func(c goja.FunctionCall) goja.Value { return l.boundOf(s, c.This) })
		_ = prototype.DefineAccessorProperty(s.bound.name, get, nil, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	return own
}

func (l *locales) method(s *service, prototype *goja.Object, m method) {
	f := native(l.vm, m.name, m.length, func(c goja.FunctionCall) goja.Value {
		return m.call(l, l.self(s, c.This, m.name).value, c)
	})
	_ = prototype.DefineDataProperty(m.name, f, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// boundOf is an object's own function, the same one each time.
func (l *locales) boundOf(s *service, this goja.Value) goja.Value {
	own := l.self(s, this, s.bound.name)
	if own.bound == nil {
		own.bound = native(l.vm, "", s.bound.length, func(c goja.FunctionCall) goja.Value {
			return s.bound.call(l, own.value, c)
		})
	}
	return own.bound
}

func (l *locales) construct(s *service, prototype *goja.Object, c goja.ConstructorCall) *goja.Object {
	own := prototype
	if c.NewTarget != nil {
		if given, ok := c.NewTarget.Get("prototype").(*goja.Object); ok {
			own = given
		}
	} else if !s.isCall && c.This.Prototype() != prototype { // goja gives new an object of this prototype
		panic(l.vm.NewTypeError("Constructor Intl.%s requires 'new'", s.name))
	}
	call := goja.FunctionCall{Arguments: c.Arguments}
	if given := call.Argument(1); s.needsObject && !goja.IsUndefined(given) {
		if _, ok := given.(*goja.Object); !ok {
			panic(l.vm.NewTypeError("invalid_argument"))
		}
	}
	value, err := s.open(l, l.request(call, 0, "Intl."+s.name))
	l.throw(err)
	object := l.vm.CreateObject(own)
	l.keep(object, &slot{service: s, value: value})
	return object
}

// keep puts a slot beside an object, for as long as that lives.
func (l *locales) keep(object *goja.Object, s *slot) {
	key := weak.Make(object)
	l.mu.Lock()
	l.slots[key] = s
	l.mu.Unlock()
	runtime.AddCleanup(object, func(key weak.Pointer[goja.Object]) {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.slots, key)
	}, key)
}

// self is what stands behind the receiver of a method.
func (l *locales) self(s *service, this goja.Value, name string) *slot {
	if object, ok := this.(*goja.Object); ok {
		l.mu.Lock()
		own := l.slots[weak.Make(object)]
		l.mu.Unlock()
		if own != nil && own.service == s {
			return own
		}
	}
	panic(l.vm.NewTypeError("Method Intl.%s.prototype.%s called on incompatible receiver %s", s.name, name, received(this)))
}

// received is a receiver as V8 names it.
func received(this goja.Value) string {
	if object, ok := this.(*goja.Object); ok {
		return "#<" + object.ClassName() + ">"
	}
	return this.String()
}

// time is the moment that a body asks about: now, if it does not say.
func (l *locales) time(value goja.Value) float64 {
	if goja.IsUndefined(value) {
		return float64(l.ev.req.Now.UnixMilli())
	}
	return value.ToFloat()
}

func (l *locales) relative(self any, c goja.FunctionCall, of string) []numbers.RelativePart {
	value := c.Argument(0).ToFloat()
	parts, err := self.(*numbers.RelativeTimeFormat).Parts(value, c.Argument(1).ToString().String(), of)
	l.throw(err)
	return parts
}

// items are the texts of an iterable.
func (l *locales) items(value goja.Value) []string {
	if goja.IsUndefined(value) {
		return nil
	}
	if _, ok := value.(*goja.Object); !ok && !goja.IsString(value) {
		panic(l.vm.NewTypeError("%s is not iterable (cannot read property Symbol(Symbol.iterator))", strings.TrimPrefix(primitive(value), "a ")+" "+value.String()))
	}
	var out []string
	l.vm.ForOf(value, func(item goja.Value) bool {
		if !goja.IsString(item) {
			panic(l.vm.NewTypeError("Iterable yielded %s which is not a string", item.String()))
		}
		out = append(out, item.String())
		return true
	})
	return out
}
