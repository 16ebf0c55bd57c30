package worker

import (
	"reflect"
	"strings"
	"sync"
	"weak"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/collation"
	"github.com/bir-run/bir/sandbox/worker/intl/decimal"
	"github.com/dop251/goja"
)

// locales is what a body sees of package intl: the object Intl and the methods of
// other builtins that take a locale. It is made for bodies that name one of them, and
// Intl's parts when they are first asked for.
type locales struct {
	ev        *evaluation
	vm        *goja.Runtime
	collators map[string]*collation.Collator
	joining   map[*goja.Object]bool // arrays inside toLocaleString

	mu    sync.Mutex // guards slots, which the collector's goroutine shrinks
	slots map[weak.Pointer[goja.Object]]*slot
}

// slot is what stands behind an object of Intl. It is kept beside the object, since a
// property would be the body's to read.
type slot struct {
	service *service
	value   any
	bound   goja.Value // the function that its format or compare has given
}

func (ev *evaluation) newLocales() *locales {
	return &locales{
		ev:        ev,
		vm:        ev.vm,
		collators: map[string]*collation.Collator{},
		joining:   map[*goja.Object]bool{},
		slots:     map[weak.Pointer[goja.Object]]*slot{},
	}
}

// installLocales puts Node's answers in place of goja's, which know no locale. A body
// gets what it names.
func (ev *evaluation) installLocales() {
	l := ev.newLocales()
	names := func(word string) bool { return strings.Contains(ev.program.author.source, word) }
	if names("Intl") {
		l.lazy(ev.vm.GlobalObject(), "Intl", l.namespace)
	}
	if names("localeCompare") {
		l.patchCompare()
	}
	if !names("toLocale") {
		return
	}
	l.patchNumbers()
	l.patchArrays()
	if names("Date") {
		l.patchDates()
	}
	if names("Case") {
		l.patchCases()
	}
}

// lazy defines a property whose value is made when it is first read.
func (l *locales) lazy(object *goja.Object, name string, make func() goja.Value) {
	settle := func(value goja.Value) {
		_ = object.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	get := native(l.vm, "get "+name, 0, func(goja.FunctionCall) goja.Value {
		value := make()
		settle(value)
		return value
	})
	set := native(l.vm, "set "+name, 1, func(c goja.FunctionCall) goja.Value {
		settle(c.Argument(0))
		return goja.Undefined()
	})
	_ = object.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// throw ends the body's call with an error of package intl.
func (l *locales) throw(err *intl.Error) {
	if err == nil {
		return
	}
	if err.Kind == "TypeError" {
		panic(l.vm.NewTypeError("%s", err.Message))
	}
	made, failed := l.vm.New(l.vm.Get("RangeError"), l.vm.ToValue(err.Message))
	if failed != nil {
		panic(failed)
	}
	panic(made)
}

// requested are the locales that a body names, in canonical form.
func (l *locales) requested(value goja.Value) []string {
	if goja.IsUndefined(value) {
		return nil
	}
	if goja.IsString(value) {
		return []string{l.canonical(value)}
	}
	if goja.IsNull(value) {
		panic(l.vm.NewTypeError("Cannot convert undefined or null to object"))
	}
	list := value.ToObject(l.vm)
	var out []string
	for i := range min(lengthOf(list), maxLocales) {
		tag := list.Get(l.vm.ToValue(i).String())
		if tag == nil {
			continue
		}
		if _, isObject := tag.(*goja.Object); !isObject && !goja.IsString(tag) {
			panic(l.vm.NewTypeError("Language ID should be string or object."))
		}
		out = append(out, l.canonical(tag))
	}
	return out
}

func lengthOf(list *goja.Object) int64 {
	length := list.Get("length")
	if length == nil {
		return 0
	}
	return length.ToInteger()
}

// maxLocales is more than anybody names; a list may claim any length.
const maxLocales = 1000

func (l *locales) canonical(tag goja.Value) string {
	canonical, err := intl.Canonical(tag.ToString().String())
	l.throw(err)
	return canonical
}

// request reads the locales and options that a body gives. by is who asks.
func (l *locales) request(c goja.FunctionCall, at int, by string) intl.Request {
	q := intl.Request{Locales: l.requested(c.Argument(at)), By: by}
	switch given := c.Argument(at + 1); {
	case goja.IsUndefined(given):
	case goja.IsNull(given) && strings.HasPrefix(by, "Date."):
		panic(l.vm.NewTypeError("Cannot convert undefined or null to object"))
	case goja.IsNull(given):
		panic(l.vm.NewTypeError("%s called on null or undefined", by))
	default:
		q.Options = options{given.ToObject(l.vm)}
	}
	return q
}

// options are a body's object. Its getters may throw: goja carries that through.
type options struct {
	object *goja.Object
}

func (o options) value(name string) (goja.Value, bool) {
	v := o.object.Get(name)
	return v, v != nil && !goja.IsUndefined(v)
}

// Text is the option as text.
func (o options) Text(name string) (string, bool) {
	v, ok := o.value(name)
	if !ok {
		return "", false
	}
	return v.ToString().String(), true
}

// Number is the option as a number.
func (o options) Number(name string) (float64, bool) {
	v, ok := o.value(name)
	if !ok {
		return 0, false
	}
	return v.ToFloat(), true
}

// Truth is whether the option counts as true.
func (o options) Truth(name string) (value, ok bool) {
	v, ok := o.value(name)
	return ok && v.ToBoolean(), ok
}

// IsTrue tells whether the option is true and nothing else.
func (o options) IsTrue(name string) bool {
	v, ok := o.value(name)
	return ok && v.ExportType().Kind() == reflect.Bool && v.ToBoolean()
}

// number is a body's number, exact where it is written as text or is a BigInt.
func (l *locales) number(value goja.Value) decimal.Decimal {
	if object, ok := value.(*goja.Object); ok {
		value = object.ToNumber()
	}
	if goja.IsBigInt(value) || goja.IsString(value) {
		if d, ok := decimal.Parse(value.String()); ok {
			return d
		}
	}
	if _, ok := value.(*goja.Symbol); ok {
		panic(l.vm.NewTypeError("Cannot convert a Symbol value to a number"))
	}
	return decimal.FromFloat(value.ToFloat())
}

// parts are a formatted text in pieces, as a body sees them.
func (l *locales) parts(parts []intl.Part) goja.Value {
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = l.part(p)
	}
	return l.vm.NewArray(out...)
}

func (l *locales) part(p intl.Part) *goja.Object {
	object := l.vm.NewObject()
	_ = object.Set("type", p.Type)
	_ = object.Set("value", p.Value)
	return object
}

func (l *locales) resolved(list []intl.Resolved) goja.Value {
	object := l.vm.NewObject()
	for _, r := range list {
		value := r.Value
		if texts, ok := value.([]string); ok {
			value = l.texts(texts)
		}
		_ = object.Set(r.Name, value)
	}
	return object
}

func (l *locales) texts(texts []string) goja.Value {
	items := make([]any, len(texts))
	for i, text := range texts {
		items[i] = text
	}
	return l.vm.NewArray(items...)
}
