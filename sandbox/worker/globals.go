package worker

import "github.com/dop251/goja"

// removed are globals that a body must not have: goja's own way to the errors of
// Go, and what would share memory, compile other code or watch the collector.
// Most are not in goja today; the list holds when they arrive.
var removed = []string{
	"GoError", "SharedArrayBuffer", "Atomics", "WebAssembly", "FinalizationRegistry", "WeakRef",
}

func removeGlobals(vm *goja.Runtime) {
	global := vm.GlobalObject()
	for _, name := range removed {
		_ = global.Delete(name)
	}
}

// native is a function of ours as the body sees it. Its name is given, since goja
// would take the Go function's, and with it the names of our source.
func native(vm *goja.Runtime, name string, length int, f func(goja.FunctionCall) goja.Value) *goja.Object {
	function := vm.ToValue(f).(*goja.Object)
	define := func(property string, value any) {
		_ = function.DefineDataProperty(property, vm.ToValue(value), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	}
	define("name", name)
	define("length", length)
	return function
}
