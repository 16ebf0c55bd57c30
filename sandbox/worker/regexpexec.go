package worker

import (
	"reflect"
	"unicode/utf16"

	"github.com/bir-run/bir/sandbox/worker/regex"
	"github.com/dop251/goja"
)

// takeOver replaces what looks at a RegExp's pattern. From then on goja goes the
// way of the specification for all of them, through exec.
func (r *regexps) takeOver() {
	if r.taken {
		return
	}
	r.taken = true
	vm, prototype := r.ev.vm, r.prototype()
	r.exec0 = native(vm, "exec", 1, r.exec)
	hide(prototype, "exec", r.exec0)
	hide(prototype, "test", native(vm, "test", 1, r.test))
	hide(prototype, "compile", native(vm, "compile", 2, func(goja.FunctionCall) goja.Value {
		panic(vm.NewTypeError("RegExp.prototype.compile is not available in bodies"))
	}))
	r.replaceFast()
	r.getter("source", func(object *goja.Object) goja.Value { return r.escapedSource(object) })
	r.getter("flags", func(object *goja.Object) goja.Value { return vm.ToValue(flagsOf(object)) })
	r.getter("hasIndices", func(object *goja.Object) goja.Value {
		e := r.of(object)
		return vm.ToValue(e != nil && e.re.Flags.Indices)
	})
	r.getter("unicodeSets", func(object *goja.Object) goja.Value {
		e := r.of(object)
		return vm.ToValue(e != nil && e.re.Flags.Sets)
	})
}

func (r *regexps) getter(name string, get func(*goja.Object) goja.Value) {
	prototype := r.prototype()
	f := native(r.ev.vm, "get "+name, 0, func(call goja.FunctionCall) goja.Value {
		object, ok := call.This.(*goja.Object)
		switch {
		case !ok:
			panic(r.ev.vm.NewTypeError("RegExp.prototype." + name + " getter called on non-RegExp object"))
		case object == prototype && name == "source":
			return r.ev.vm.ToValue("(?:)")
		case object == prototype && name != "flags":
			return goja.Undefined()
		}
		return get(object)
	})
	_ = prototype.DefineAccessorProperty(name, f, goja.Undefined(), goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// escapedSource is the pattern as it would stand between slashes.
func (r *regexps) escapedSource(object *goja.Object) goja.Value {
	source := r.source(object)
	text, ok := source.(goja.String)
	if !ok || r.of(object) == nil {
		return source
	}
	return escapedPattern(text)
}

// escapedPattern puts a backslash before slashes outside classes, and spells line
// ends.
func escapedPattern(text goja.String) goja.Value {
	lineEnds := map[uint16]string{'\n': `\n`, '\r': `\r`, 0x2028: `\u2028`, 0x2029: `\u2029`}
	var out []uint16
	inClass, escaped := false, false
	for _, unit := range unitsOf(text) {
		spelled, isEnd := lineEnds[unit]
		switch {
		case isEnd && escaped:
			out = append(out[:len(out)-1], utf16.Encode([]rune(spelled))...)
		case isEnd:
			out = append(out, utf16.Encode([]rune(spelled))...)
		case unit == '/' && !escaped && !inClass:
			out = append(out, '\\', '/')
		default:
			out = append(out, unit)
		}
		if !escaped && (unit == '[' || unit == ']') {
			inClass = unit == '['
		}
		escaped = unit == '\\' && !escaped
	}
	if len(out) == 0 {
		out = utf16.Encode([]rune("(?:)"))
	}
	return goja.StringFromUTF16(out)
}

var flagProperties = []struct {
	name   string
	letter byte
}{
	{"hasIndices", 'd'}, {"global", 'g'}, {"ignoreCase", 'i'}, {"multiline", 'm'},
	{"dotAll", 's'}, {"unicode", 'u'}, {"unicodeSets", 'v'}, {"sticky", 'y'},
}

// flagsOf reads the flags as the specification does, property by property.
func flagsOf(object *goja.Object) string {
	var letters []byte
	for _, p := range flagProperties {
		if value := object.Get(p.name); value != nil && value.ToBoolean() {
			letters = append(letters, p.letter)
		}
	}
	return string(letters)
}

func (r *regexps) exec(call goja.FunctionCall) goja.Value {
	object, e := r.receiver(call, "exec")
	if e == nil {
		value, err := r.execOf(object, call.Argument(0))
		if err != nil {
			panic(err)
		}
		return value
	}
	text := r.ev.textOf(call.Argument(0))
	slots := r.match(object, e, text)
	if slots == nil {
		return goja.Null()
	}
	return r.result(e, text, slots)
}

func (r *regexps) receiver(call goja.FunctionCall, method string) (*goja.Object, *entry) {
	object, ok := call.This.(*goja.Object)
	if !ok || !isRegExpObject(object) {
		panic(r.ev.vm.NewTypeError("Method RegExp.prototype." + method + " called on incompatible receiver " + call.This.String()))
	}
	return object, r.of(object)
}

// test is exec without its result, unless the body has an exec of its own.
func (r *regexps) test(call goja.FunctionCall) goja.Value {
	object, ok := call.This.(*goja.Object)
	if !ok {
		panic(r.ev.vm.NewTypeError("Method RegExp.prototype.test called on incompatible receiver " + call.This.String()))
	}
	method := object.Get("exec")
	if method == r.exec0 && isRegExpObject(object) {
		if e := r.of(object); e != nil {
			return r.ev.vm.ToValue(r.match(object, e, r.ev.textOf(call.Argument(0))) != nil)
		}
	}
	exec, ok := goja.AssertFunction(method)
	if !ok {
		exec = r.execOf
	}
	found, err := exec(object, r.ev.textOf(call.Argument(0)))
	if err != nil {
		panic(err)
	}
	return r.ev.vm.ToValue(!goja.IsNull(found))
}

// match runs a pattern from lastIndex on, and moves that.
func (r *regexps) match(object *goja.Object, e *entry, text goja.String) []int {
	flags := e.re.Flags
	moves := flags.Global || flags.Sticky
	at := int64(0)
	if moves {
		at = max(object.Get("lastIndex").ToInteger(), 0)
	}
	var slots []int
	if at <= int64(text.Length()) {
		stop := func() bool { return r.ev.stopped.Load() != int32(notStopped) }
		slots = e.re.Match(r.input(text), between(text, int(at), flags), flags.Sticky, stop)
	}
	if slots != nil {
		r.lastText, r.lastSlots = text, slots
	}
	if moves {
		next := 0
		if slots != nil {
			next = slots[1]
		}
		if err := object.Set("lastIndex", next); err != nil {
			panic(err)
		}
	}
	return slots
}

// between moves a place inside a pair to the pair's start, as V8 does. With the v
// flag it goes to the end: goja steps by units there after an empty match, and
// would never come past the pair.
func between(text goja.String, at int, flags regex.Flags) int {
	if !flags.CodePoints() || at == 0 || at >= text.Length() {
		return at
	}
	high, low := text.CharAt(at-1), text.CharAt(at)
	if high < 0xD800 || high >= 0xDC00 || low < 0xDC00 || low >= 0xE000 {
		return at
	}
	if flags.Sets {
		return at + 1
	}
	return at - 1
}

// result is the array that exec gives.
func (r *regexps) result(e *entry, text goja.String, slots []int) goja.Value {
	vm := r.ev.vm
	parts := make([]any, len(slots)/2)
	for i := range parts {
		parts[i] = goja.Undefined()
		if start, end := slots[2*i], slots[2*i+1]; start >= 0 && end >= 0 {
			parts[i] = text.Substring(start, end)
		}
	}
	array := vm.NewArray(parts...)
	_ = array.Set("index", slots[0])
	_ = array.Set("input", text)
	_ = array.Set("groups", r.groups(e, func(number int) any { return parts[number] }))
	if e.re.Flags.Indices {
		pairs := make([]any, len(parts))
		for i := range pairs {
			pairs[i] = goja.Undefined()
			if slots[2*i] >= 0 && slots[2*i+1] >= 0 {
				pairs[i] = vm.NewArray(slots[2*i], slots[2*i+1])
			}
		}
		indices := vm.NewArray(pairs...)
		_ = indices.Set("groups", r.groups(e, func(number int) any { return pairs[number] }))
		_ = array.Set("indices", indices)
	}
	return array
}

func (r *regexps) groups(e *entry, value func(number int) any) goja.Value {
	if len(e.re.Groups) == 0 {
		return goja.Undefined()
	}
	groups := r.ev.vm.CreateObject(nil)
	for _, g := range e.re.Groups {
		var found any = goja.Undefined()
		for _, number := range g.Numbers {
			if v := value(number); v != any(goja.Undefined()) {
				found = v
			}
		}
		_ = groups.Set(g.Name, found)
	}
	return groups
}

// input is a text for the matcher. A global pattern asks for the same one again
// and again, so the conversion of the last one is kept.
func (r *regexps) input(text goja.String) regex.Input {
	switch v := reflect.ValueOf(text); v.Kind() {
	case reflect.String:
		return regex.Input{ASCII: v.String()}
	case reflect.Slice:
		// goja keeps a mark in front of the units.
		return regex.Input{Wide: v.Convert(unitsType).Interface().([]uint16)[1:]}
	}
	if r.text == nil || r.text != goja.Value(text) {
		r.text, r.units = text, unitsOf(text)
	}
	return regex.Input{Wide: r.units}
}

var unitsType = reflect.TypeFor[[]uint16]()

// unitsOf copies a text's UTF-16 units.
func unitsOf(text goja.String) []uint16 {
	units := make([]uint16, text.Length())
	for i := range units {
		units[i] = text.CharAt(i)
	}
	return units
}

// convertStrings has match, matchAll and search read a pattern given as text as
// the constructor does: goja would read it itself.
func (r *regexps) convertStrings() {
	vm := r.ev.vm
	prototype := vm.Get("String").(*goja.Object).Get("prototype").(*goja.Object)
	for method, letters := range map[string]string{"match": "", "matchAll": "g", "search": ""} {
		call, _ := goja.AssertFunction(prototype.Get(method))
		hide(prototype, method, native(vm, method, 1, func(c goja.FunctionCall) goja.Value {
			args := c.Arguments
			if text, ok := c.Argument(0).(goja.String); ok && !r.compile(text, letters).Plain {
				args = []goja.Value{r.construct([]goja.Value{text, vm.ToValue(letters)}, r.constructor)}
			}
			value, err := call(c.This, args...)
			if err != nil {
				panic(err)
			}
			return value
		}))
	}
}
