package worker

import (
	"github.com/dop251/goja"
)

// replaceFast puts replacing and global matching of our patterns in front of goja's
// way through exec, which makes an array a match. What a body may have changed,
// exec or the flags, goes goja's way still.
func (r *regexps) replaceFast() {
	vm, prototype := r.ev.vm, r.prototype()
	wrap := func(symbol *goja.Symbol, name string, length int, fast func(*goja.Object, *entry, goja.FunctionCall) goja.Value) {
		original, _ := goja.AssertFunction(prototype.GetSymbol(symbol))
		method := native(vm, name, length, func(c goja.FunctionCall) goja.Value {
			if object, ok := c.This.(*goja.Object); ok && isRegExpObject(object) && object.Get("exec") == r.exec0 {
				if e := r.of(object); e != nil && flagsOf(object) == e.re.Flags.Letters() {
					return fast(object, e, c)
				}
			}
			value, err := original(c.This, c.Arguments...)
			if err != nil {
				panic(err)
			}
			return value
		})
		_ = prototype.DefineDataPropertySymbol(symbol, method, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	wrap(goja.SymReplace, "[Symbol.replace]", 2, r.replace)
	wrap(goja.SymMatch, "[Symbol.match]", 1, r.matches)
}

// all are the slots of every match, or of the first for a pattern that is not
// global.
func (r *regexps) all(object *goja.Object, e *entry, text goja.String) [][]int {
	if !e.re.Flags.Global {
		if slots := r.match(object, e, text); slots != nil {
			return [][]int{slots}
		}
		return nil
	}
	r.setLastIndex(object, 0)
	var found [][]int
	for {
		slots := r.match(object, e, text)
		if slots == nil {
			return found
		}
		found = append(found, slots)
		if slots[0] == slots[1] {
			r.setLastIndex(object, after(text, slots[1], e.re.Flags.CodePoints()))
		}
	}
}

func (r *regexps) setLastIndex(object *goja.Object, at int) {
	if err := object.Set("lastIndex", at); err != nil {
		panic(err)
	}
}

// after is the place behind the character at a place.
func after(text goja.String, at int, codePoints bool) int {
	if codePoints && at+1 < text.Length() {
		high, low := text.CharAt(at), text.CharAt(at+1)
		if high >= 0xD800 && high < 0xDC00 && low >= 0xDC00 && low < 0xE000 {
			return at + 2
		}
	}
	return at + 1
}

func (r *regexps) matches(object *goja.Object, e *entry, c goja.FunctionCall) goja.Value {
	text := r.ev.textOf(c.Argument(0))
	found := r.all(object, e, text)
	switch {
	case len(found) == 0:
		return goja.Null()
	case !e.re.Flags.Global:
		return r.result(e, text, found[0])
	}
	parts := make([]any, len(found))
	for i, slots := range found {
		parts[i] = text.Substring(slots[0], slots[1])
	}
	return r.ev.vm.NewArray(parts...)
}

// replace is the specification's RegExp.prototype[Symbol.replace].
func (r *regexps) replace(object *goja.Object, e *entry, c goja.FunctionCall) goja.Value {
	text := r.ev.textOf(c.Argument(0))
	replacer, isFunction := goja.AssertFunction(c.Argument(1))
	var template goja.String
	if !isFunction {
		template = r.ev.textOf(c.Argument(1))
	}
	var out goja.StringBuilder
	end := 0
	for _, slots := range r.all(object, e, text) {
		out.WriteSubstring(text, end, slots[0])
		end = slots[1]
		if !isFunction {
			r.expand(&out, e, template, text, slots)
			continue
		}
		value, err := replacer(goja.Undefined(), r.replacerArguments(e, text, slots)...)
		if err != nil {
			panic(err)
		}
		out.WriteString(r.ev.textOf(value))
	}
	out.WriteSubstring(text, end, text.Length())
	return out.String()
}

func (r *regexps) replacerArguments(e *entry, text goja.String, slots []int) []goja.Value {
	var args []goja.Value
	for i := 0; i < len(slots); i += 2 {
		args = append(args, part(text, slots, i/2))
	}
	args = append(args, r.ev.vm.ToValue(slots[0]), text)
	if len(e.re.Groups) > 0 {
		args = append(args, r.groups(e, func(number int) any { return part(text, slots, number) }))
	}
	return args
}

// part is what a group matched, undefined if it did not take part.
func part(text goja.String, slots []int, number int) goja.Value {
	if start, end := slots[2*number], slots[2*number+1]; start >= 0 && end >= 0 {
		return text.Substring(start, end)
	}
	return goja.Undefined()
}

// expand writes a template with its $1, $<name>, $&, $` and $' filled in.
func (r *regexps) expand(out *goja.StringBuilder, e *entry, template, text goja.String, slots []int) {
	length := template.Length()
	for i := 0; i < length; i++ {
		unit := template.CharAt(i)
		if unit == '$' && i+1 < length {
			if used := r.directive(out, e, template, i, text, slots); used > 0 {
				i += used - 1
				continue
			}
		}
		out.WriteSubstring(template, i, i+1)
	}
}

// directive writes the one that begins at i and gives its length, 0 for none.
func (r *regexps) directive(out *goja.StringBuilder, e *entry, template goja.String, i int, text goja.String, slots []int) int {
	digit := func(at int) int {
		if at < template.Length() && template.CharAt(at) >= '0' && template.CharAt(at) <= '9' {
			return int(template.CharAt(at) - '0')
		}
		return -1
	}
	write := func(number int) {
		if value, ok := part(text, slots, number).(goja.String); ok {
			out.WriteString(value)
		}
	}
	switch template.CharAt(i + 1) {
	case '$':
		out.WriteSubstring(template, i, i+1)
		return 2
	case '&':
		write(0)
		return 2
	case '`':
		out.WriteSubstring(text, 0, slots[0])
		return 2
	case '\'':
		out.WriteSubstring(text, slots[1], text.Length())
		return 2
	case '<':
		return r.named(e, template, i, write, slots)
	}
	first, second := digit(i+1), digit(i+2)
	switch {
	case first >= 0 && second >= 0 && first*10+second >= 1 && first*10+second <= e.re.Count:
		write(first*10 + second)
		return 3
	case first >= 1 && first <= e.re.Count:
		write(first)
		return 2
	}
	return 0
}

func (r *regexps) named(e *entry, template goja.String, i int, write func(int), slots []int) int {
	if len(e.re.Groups) == 0 {
		return 0
	}
	for end := i + 2; end < template.Length(); end++ {
		if template.CharAt(end) != '>' {
			continue
		}
		name := template.Substring(i+2, end).String()
		for _, g := range e.re.Groups {
			for _, number := range g.Numbers {
				if g.Name == name && slots[2*number] >= 0 {
					write(number)
				}
			}
		}
		return end + 1 - i
	}
	return 0
}
