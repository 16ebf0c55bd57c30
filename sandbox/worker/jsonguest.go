package worker

import (
	"strconv"

	"github.com/dop251/goja"
)

// installJSON puts the parser of ours in the place of JSON.parse.
func (ev *evaluation) installJSON() {
	hide(ev.vm.Get("JSON").(*goja.Object), "parse", native(ev.vm, "parse", 2, func(c goja.FunctionCall) goja.Value {
		text := c.Argument(0)
		if _, isSymbol := text.(*goja.Symbol); isSymbol {
			panic(ev.vm.NewTypeError("Cannot convert a Symbol value to a string"))
		}
		value := ev.readJSON(jsonText(ev.textOf(text)))
		reviver, ok := goja.AssertFunction(c.Argument(1))
		if !ok {
			return value
		}
		root := ev.vm.NewObject()
		_ = root.Set("", value)
		return ev.revive(reviver, root, "", 0)
	}))
}

// revive is the specification's InternalizeJSONProperty.
func (ev *evaluation) revive(reviver goja.Callable, holder *goja.Object, key string, depth int) goja.Value {
	value := holder.Get(key)
	if object, ok := value.(*goja.Object); ok {
		if depth > maxJSONDepth || ev.stopped.Load() != int32(notStopped) {
			panic(ev.newError("RangeError", "Maximum call stack size exceeded"))
		}
		for _, name := range ev.revived(object) {
			part := ev.revive(reviver, object, name, depth+1)
			if goja.IsUndefined(part) {
				_ = object.Delete(name)
			} else {
				_ = object.DefineDataProperty(name, part, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
			}
		}
	}
	if value == nil {
		value = goja.Undefined()
	}
	result, err := reviver(holder, ev.vm.ToValue(key), value)
	if err != nil {
		panic(err)
	}
	return result
}

func (ev *evaluation) revived(object *goja.Object) []string {
	if object.ExportType() != arrayType {
		return object.Keys()
	}
	names := make([]string, object.Get("length").ToInteger())
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}
