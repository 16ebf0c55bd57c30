package worker

import (
	"reflect"
	"unicode/utf8"

	"github.com/dop251/goja"
)

var arrayType = reflect.TypeFor[[]any]()

// refused says what came back where only a plain object may, or nothing if one did.
// It reads the body's properties, so it runs inside the guest.
func (s *serializer) refused(value goja.Value) string {
	if !s.ev.req.Plain {
		if goja.IsBigInt(value) {
			return "a BigInt"
		}
		return ""
	}
	object, ok := value.(*goja.Object)
	if !ok {
		return primitive(value) + ", not a plain object"
	}
	if what := s.refusedObject(object); what != "" {
		return what + ", not a plain object"
	}
	return ""
}

func primitive(value goja.Value) string {
	switch {
	case value == nil || goja.IsUndefined(value):
		return "nothing (undefined)"
	case goja.IsNull(value):
		return "null"
	case goja.IsNaN(value):
		return "NaN"
	case goja.IsBigInt(value):
		return "a BigInt"
	case goja.IsNumber(value):
		return "a number"
	case goja.IsString(value):
		return "a string"
	}
	if _, ok := value.(*goja.Symbol); ok {
		return "a symbol"
	}
	return "a boolean"
}

func (s *serializer) refusedObject(object *goja.Object) string {
	switch object.ExportType() {
	case proxyType: // first: what else there is to ask would run its traps
		return "a Proxy"
	case promiseType:
		return "a promise"
	case arrayType:
		return "an array"
	}
	if _, ok := goja.AssertFunction(object); ok {
		return "a function"
	}
	if _, ok := goja.AssertFunction(object.Get("then")); ok {
		return "a thenable (an object with a then method)"
	}
	if proto := object.Prototype(); proto != nil && proto != s.ev.objectPrototype {
		return "an instance of " + className(object)
	}
	return ""
}

func className(object *goja.Object) string {
	if constructor, ok := object.Get("constructor").(*goja.Object); ok {
		if name, ok := constructor.Get("name").(goja.String); ok && name.Length() > 0 {
			return clipString(name, maxKeyBytes)
		}
	}
	return "a class"
}

// clip is the beginning of s, at most n bytes.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// clipString is clip for a string of the guest, which is copied only in part.
func clipString(s goja.String, n int) string {
	if s.Length() > n {
		return clip(s.Substring(0, n).String(), n) + "…"
	}
	return s.String()
}
