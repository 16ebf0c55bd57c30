package worker

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

const (
	maxInspectBytes = 4 << 10
	maxInspectDepth = 2 // as Node
	maxInspectItems = 100
)

// inspector writes a value for people, much as Node's console does, on one line.
type inspector struct {
	vm   *goja.Runtime
	b    strings.Builder
	path []*goja.Object
}

// inspect runs getters of the body, so it belongs inside the guest.
func (ev *evaluation) inspect(value goja.Value) string {
	in := &inspector{vm: ev.vm}
	in.write(value)
	return clip(in.b.String(), maxInspectBytes)
}

func (in *inspector) write(value goja.Value) {
	if in.b.Len() > maxInspectBytes {
		return
	}
	switch v := value.(type) {
	case nil:
		in.b.WriteString("undefined")
	case goja.String:
		in.b.WriteString(quote(clipString(v, maxInspectBytes)))
	case *goja.Symbol:
		in.b.WriteString("Symbol(" + v.String() + ")")
	case *goja.Object:
		in.object(v)
	default:
		if goja.IsNumber(v) && math.Signbit(v.ToFloat()) && v.ToFloat() == 0 {
			in.b.WriteByte('-')
		}
		in.b.WriteString(v.String())
		if goja.IsBigInt(v) {
			in.b.WriteByte('n')
		}
	}
}

// quote uses the quotes that Node would.
func quote(s string) string {
	s = strings.NewReplacer("\\", "\\\\", "\n", "\\n", "\r", "\\r", "\t", "\\t").Replace(s)
	switch {
	case !strings.Contains(s, "'"):
		return "'" + s + "'"
	case !strings.Contains(s, `"`):
		return `"` + s + `"`
	case !strings.Contains(s, "`"):
		return "`" + s + "`"
	}
	return "'" + strings.ReplaceAll(s, "'", `\'`) + "'"
}

func (in *inspector) object(object *goja.Object) {
	switch object.ExportType() {
	case proxyType: // its traps are not to be set off by printing it
		in.b.WriteString("[Proxy]")
		return
	case promiseType:
		in.b.WriteString("[Promise]")
		return
	}
	if _, ok := goja.AssertFunction(object); ok {
		in.b.WriteString("[Function" + in.functionName(object) + "]")
		return
	}
	switch object.ClassName() {
	case "Date":
		in.call(object, "toISOString")
	case "RegExp":
		in.call(object, "toString")
	case "Error":
		in.call(object, "toString")
	default:
		in.nested(object)
	}
}

func (in *inspector) functionName(object *goja.Object) string {
	if name, ok := in.get(object, "name").(goja.String); ok && name.Length() > 0 {
		return ": " + clipString(name, maxKeyBytes)
	}
	return " (anonymous)"
}

// call writes what a method of a builtin gives.
func (in *inspector) call(object *goja.Object, method string) {
	if f, ok := goja.AssertFunction(in.get(object, method)); ok {
		if text, err := f(object); err == nil {
			if s, ok := text.(goja.String); ok {
				in.b.WriteString(clipString(s, maxInspectBytes))
				return
			}
		}
	}
	in.b.WriteString("[" + object.ClassName() + "]")
}

func (in *inspector) nested(object *goja.Object) {
	isArray := object.ExportType() == arrayType
	for _, outer := range in.path {
		if outer == object {
			in.b.WriteString("[Circular]")
			return
		}
	}
	if len(in.path) > maxInspectDepth {
		in.b.WriteString(map[bool]string{true: "[Array]", false: "[Object]"}[isArray])
		return
	}
	in.path = append(in.path, object)
	defer func() { in.path = in.path[:len(in.path)-1] }()
	if isArray {
		in.array(object)
		return
	}
	in.keys(object)
}

func (in *inspector) array(object *goja.Object) {
	length := object.Get("length").ToInteger()
	if length == 0 {
		in.b.WriteString("[]")
		return
	}
	in.b.WriteString("[ ")
	for i := range min(length, maxInspectItems) {
		if i > 0 {
			in.b.WriteString(", ")
		}
		in.write(in.get(object, strconv.FormatInt(i, 10)))
	}
	in.more(length - maxInspectItems)
	in.b.WriteString(" ]")
}

var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][\w$]*$`) })

func (in *inspector) keys(object *goja.Object) {
	if class := in.className(object); class != "Object" {
		in.b.WriteString(class + " ")
	}
	keys := object.Keys()
	if len(keys) == 0 {
		in.b.WriteString("{}")
		return
	}
	in.b.WriteString("{ ")
	for i, key := range keys[:min(len(keys), maxInspectItems)] {
		if i > 0 {
			in.b.WriteString(", ")
		}
		if identifier().MatchString(key) {
			in.b.WriteString(key + ": ")
		} else {
			in.b.WriteString(quote(clip(key, maxKeyBytes)) + ": ")
		}
		in.write(in.get(object, key))
	}
	in.more(int64(len(keys) - maxInspectItems))
	in.b.WriteString(" }")
}

func (in *inspector) className(object *goja.Object) string {
	if constructor, ok := in.get(object, "constructor").(*goja.Object); ok {
		if name, ok := in.get(constructor, "name").(goja.String); ok && name.Length() > 0 {
			return clipString(name, maxKeyBytes)
		}
	}
	return "Object"
}

func (in *inspector) more(n int64) {
	if n > 0 {
		in.b.WriteString(", ... " + strconv.FormatInt(n, 10) + " more")
	}
}

// get reads a property; printing must not fail for a getter that throws.
func (in *inspector) get(object *goja.Object, key string) (value goja.Value) {
	if in.vm.Try(func() { value = object.Get(key) }) != nil {
		return in.vm.ToValue("[Getter]")
	}
	return value
}
