package worker

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/bir-run/bir/sandbox/worker/regex"
	"github.com/dop251/goja"
)

// regexps are an evaluation's regular expressions that goja would read otherwise
// than Node. Each is a RegExp of goja whose own pattern is only a mark: the number
// of its entry here. The methods that look at a pattern are replaced when the first
// one is made, so that a body without any pays nothing.
type regexps struct {
	ev      *evaluation
	entries []*entry
	byText  map[string]*entry

	original    *goja.Object // the RegExp of goja
	constructor *goja.Object // ours in front of it
	make        goja.Constructor
	sourceOf    goja.Callable
	execOf      goja.Callable
	taken       bool
	exec0       goja.Value // our exec, to tell whether a body has put another in its place

	seen      *goja.Object // the object asked about last, and its entry
	seenEntry *entry
	text      goja.Value // the text converted last, and its units
	units     []uint16

	lastText  goja.String // of the last match, where the body shows it
	lastSlots []int
}

// entry is one pattern with its flags.
type entry struct {
	re       *regex.Regex
	source   goja.String
	template *goja.Object
}

// mark begins the pattern of goja that stands for an entry.
const mark = "\x00bir"

// install puts a constructor in front of goja's that knows every pattern.
func (ev *evaluation) installRegExp() *regexps {
	if ev.regexps != nil {
		return ev.regexps
	}
	original := ev.vm.Get("RegExp").(*goja.Object)
	r := &regexps{ev: ev, original: original, byText: map[string]*entry{}}
	ev.regexps = r
	r.make, _ = goja.AssertConstructor(original)
	prototype := r.prototype()
	r.execOf, _ = goja.AssertFunction(prototype.Get("exec"))
	r.sourceOf = getterOf(ev.vm, prototype, "source")
	r.constructor = r.front()
	hide(prototype, "constructor", r.constructor)
	hide(ev.vm.GlobalObject(), "RegExp", r.constructor)
	r.convertStrings()
	return r
}

// frontProgram makes the constructor. It is JavaScript, since a constructor of Go
// cannot tell whether it was called with new; nor may it be a proxy, which goja
// does not take on the right of instanceof.
var frontProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("RegExp", `(function (construct, apply, original) {
	const RegExp = function RegExp(pattern, flags) {
		return new.target === undefined ? apply(pattern, flags) : construct(pattern, flags, new.target);
	};
	Object.defineProperty(RegExp, 'prototype', {value: original.prototype, writable: false});
	Object.defineProperty(RegExp, Symbol.species, Object.getOwnPropertyDescriptor(original, Symbol.species));
	return RegExp;
})`, true)
})

// front is the constructor that bodies see.
func (r *regexps) front() *goja.Object {
	vm := r.ev.vm
	made, err := vm.RunProgram(frontProgram())
	if err != nil {
		panic(err)
	}
	maker, _ := goja.AssertFunction(made)
	construct := native(vm, "", 3, func(c goja.FunctionCall) goja.Value {
		return r.construct(c.Arguments[:2], c.Argument(2).(*goja.Object))
	})
	apply := native(vm, "", 2, func(c goja.FunctionCall) goja.Value { return r.apply(c.Arguments) })
	front, err := maker(goja.Undefined(), construct, apply, r.original)
	if err != nil {
		panic(err)
	}
	constructor := front.(*goja.Object)
	if r.ev.program.uses.lastMatch {
		r.showLastMatch(constructor)
	}
	return constructor
}

// showLastMatch defines the properties that show the last match of any
// expression. A body that names one has all its patterns matched here.
func (r *regexps) showLastMatch(constructor *goja.Object) {
	show := func(names string, read func() goja.Value) {
		for _, name := range strings.Fields(names) {
			get := native(r.ev.vm, "get "+name, 0, func(goja.FunctionCall) goja.Value {
				if r.lastSlots == nil {
					return r.ev.emptyString()
				}
				return read()
			})
			set := native(r.ev.vm, "set "+name, 1, func(goja.FunctionCall) goja.Value { return goja.Undefined() })
			_ = constructor.DefineAccessorProperty(name, get, set, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	part := func(number int) goja.Value {
		if 2*number >= len(r.lastSlots) || r.lastSlots[2*number] < 0 {
			return r.ev.emptyString()
		}
		return r.lastText.Substring(r.lastSlots[2*number], r.lastSlots[2*number+1])
	}
	for number := 1; number <= 9; number++ {
		show("$"+strconv.Itoa(number), func() goja.Value { return part(number) })
	}
	show("input $_", func() goja.Value { return r.lastText })
	show("lastMatch $&", func() goja.Value { return part(0) })
	show("lastParen $+", func() goja.Value {
		if len(r.lastSlots) == 2 {
			return r.ev.emptyString()
		}
		return part(len(r.lastSlots)/2 - 1)
	})
	show("leftContext $`", func() goja.Value { return r.lastText.Substring(0, r.lastSlots[0]) })
	show("rightContext $'", func() goja.Value { return r.lastText.Substring(r.lastSlots[1], r.lastText.Length()) })
}

// lastMatchName tells that a body reads one of those properties.
var lastMatchName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`RegExp\s*(\.\s*(\$|input|last|left|right)|\[)`)
})

func (r *regexps) prototype() *goja.Object { return r.original.Get("prototype").(*goja.Object) }

// hide defines a property as builtins are: writable, and not enumerable.
func hide(object *goja.Object, name string, value goja.Value) {
	_ = object.DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// getterOf is the getter of a builtin's accessor.
func getterOf(vm *goja.Runtime, object *goja.Object, name string) goja.Callable {
	describe, _ := goja.AssertFunction(vm.Get("Object").(*goja.Object).Get("getOwnPropertyDescriptor"))
	descriptor, err := describe(goja.Undefined(), object, vm.ToValue(name))
	if err != nil {
		return nil
	}
	getter, _ := goja.AssertFunction(descriptor.(*goja.Object).Get("get"))
	return getter
}

// apply is RegExp called without new: a RegExp stays the object that it is.
func (r *regexps) apply(args []goja.Value) goja.Value {
	if object, ok := argument(args, 0).(*goja.Object); ok && goja.IsUndefined(argument(args, 1)) && r.isRegExp(object) {
		if object.Get("constructor") == goja.Value(r.constructor) {
			return object
		}
	}
	return r.construct(args, r.constructor)
}

func argument(args []goja.Value, i int) goja.Value {
	if i < len(args) {
		return args[i]
	}
	return goja.Undefined()
}

func (r *regexps) isRegExp(object *goja.Object) bool {
	if matcher := object.GetSymbol(goja.SymMatch); matcher != nil && !goja.IsUndefined(matcher) {
		return matcher.ToBoolean()
	}
	return isRegExpObject(object)
}

// isRegExpObject tells of RegExp objects. A proxy of one is none, and is not asked
// for its class, which a revoked one does not survive.
func isRegExpObject(object *goja.Object) bool {
	return object.ExportType() != proxyType && object.ClassName() == "RegExp"
}

func (r *regexps) construct(args []goja.Value, target *goja.Object) *goja.Object {
	source, flags := argument(args, 0), argument(args, 1)
	if object, ok := source.(*goja.Object); ok && r.isRegExp(object) {
		if isRegExpObject(object) {
			source = r.source(object)
		} else {
			source = object.Get("source")
		}
		if goja.IsUndefined(flags) {
			flags = object.Get("flags")
		}
	}
	var text goja.String = r.ev.emptyString()
	if source != nil && !goja.IsUndefined(source) {
		text = r.ev.textOf(source)
	}
	letters := ""
	if flags != nil && !goja.IsUndefined(flags) {
		letters = flags.ToString().String()
	}
	re := r.compile(text, letters)
	if target == r.constructor {
		target = r.original
	}
	if re.Plain {
		return r.new(target, text, letters)
	}
	return r.object(r.entry(re, text), target)
}

// new makes a RegExp of goja itself.
func (r *regexps) new(target *goja.Object, args ...any) *goja.Object {
	values := make([]goja.Value, len(args))
	for i, arg := range args {
		values[i] = r.ev.vm.ToValue(arg)
	}
	object, err := r.make(target, values...)
	if err != nil {
		panic(err)
	}
	return object
}

func (r *regexps) compile(source goja.String, letters string) *regex.Regex {
	flags, ok := regex.ParseFlags(letters)
	if !ok {
		panic(r.ev.syntaxError("Invalid flags supplied to RegExp constructor '" + letters + "'"))
	}
	if known, ok := r.byText[letters+"/"+source.String()]; ok && known.source.StrictEquals(source) {
		return known.re
	}
	re, err := regex.Compile(unitsOf(source), flags)
	if err != nil {
		panic(r.ev.syntaxError(invalidRegExp(source.String(), letters, err)))
	}
	if strings.HasPrefix(source.String(), mark) {
		re.Plain = false // nobody may claim to be an entry
	}
	if r.ev.program.uses.lastMatch {
		re.Plain = false
	}
	return re
}

// invalidRegExp is V8's message.
func invalidRegExp(source, letters string, err error) string {
	return "Invalid regular expression: /" + source + "/" + letters + ": " + err.Error()
}

func (ev *evaluation) emptyString() goja.String { return ev.vm.ToValue("").(goja.String) }

// textOf is a value as String() makes it; goja's ToString leaves some as they are.
func (ev *evaluation) textOf(value goja.Value) goja.String {
	made := value.ToString()
	if text, ok := made.(goja.String); ok {
		return text
	}
	return ev.vm.ToValue(made.String()).(goja.String)
}

// syntaxError is what a body catches as one.
func (ev *evaluation) syntaxError(message string) *goja.Object {
	return ev.newError("SyntaxError", message)
}

func (ev *evaluation) newError(class, message string) *goja.Object {
	made, err := ev.vm.New(ev.vm.Get(class), ev.vm.ToValue(message))
	if err != nil {
		panic(err)
	}
	return made
}

// entry is the one for a pattern, made if it is new.
func (r *regexps) entry(re *regex.Regex, source goja.String) *entry {
	key := re.Flags.Letters() + "/" + source.String()
	if known, ok := r.byText[key]; ok && known.source.StrictEquals(source) {
		return known
	}
	e := &entry{re: re, source: source}
	flags := re.Flags
	flags.Indices, flags.Sets = false, false
	e.template = r.new(r.original, mark+strconv.Itoa(len(r.entries)), flags.Letters())
	r.entries = append(r.entries, e)
	r.byText[key] = e
	r.takeOver()
	return e
}

// object makes the RegExp of an entry. A subclass has its prototype from goja's
// constructor; others are copies, which are cheap.
func (r *regexps) object(e *entry, target *goja.Object) *goja.Object {
	if target != r.original {
		source, _ := r.sourceOf(e.template)
		return r.new(target, source, e.template.Get("flags"))
	}
	object := r.new(target, e.template)
	r.seen, r.seenEntry = object, e
	return object
}

// of is the entry of a RegExp object, nil if it is plain.
func (r *regexps) of(object *goja.Object) *entry {
	if object == r.seen {
		return r.seenEntry
	}
	source, err := r.sourceOf(object)
	if err != nil {
		panic(err)
	}
	var found *entry
	if number, ok := strings.CutPrefix(source.String(), mark); ok {
		if i, err := strconv.Atoi(number); err == nil && i < len(r.entries) {
			found = r.entries[i]
		}
	}
	r.seen, r.seenEntry = object, found
	return found
}

// source is what the body wrote as the pattern.
func (r *regexps) source(object *goja.Object) goja.Value {
	if e := r.of(object); e != nil {
		return e.source
	}
	source, err := r.sourceOf(object)
	if err != nil {
		panic(err)
	}
	return source
}
