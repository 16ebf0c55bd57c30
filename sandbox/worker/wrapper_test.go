package worker

import (
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/dop251/goja"
)

// FuzzNothingOfABodyRunsOutsideItsFunction runs the compiled program and does not call
// the function that it gives: whatever is heard then stands outside.
func FuzzNothingOfABodyRunsOutsideItsFunction(f *testing.F) {
	for _, source := range []string{
		"mark()", "return mark()", "}); mark(); (function (a) {", "}, mark(), function (a) {", "})(mark()); (function (a) {",
		"} + mark() + function (a) {", "}.x = mark(), function (a) {", "}`${mark()}`, function (a) {", "/*", "*/}); mark(); (function (a) {",
		"<!-- \n}); mark(); (function (a) {", "\n--> }); mark(); (function (a) {", "// \u2028}); mark(); (function (a) {",
		"async function* g() {} }); mark(); (function (a) {", "async function* g() {} }, mark(), function (a) {",
		"using x = mark(); }); mark(); (function (a) {", "{ function f() {} } f(); }); mark(); (function (a) {",
		"return /}); mark(); (/", "return `}); ${mark()} (`", "class A { static { mark() } }", "try { a } catch { mark() }",
		"/a/v.test(1) }); mark(); (function (a) {", "#!x\nmark()", "}); mark(); //", "}); mark(); /*", "return a\n}); mark(); (a => {",
		"for await (const x of mark()) ; }); mark(); (function (a) {", "\\u007d); mark(); (function (a) {", "} get x() {", "yield mark()", "await mark()",
	} {
		f.Add(source)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if len(source) > 1<<12 {
			t.Skip("long ones teach nothing more, and take time")
		}
		p, failure := newPrograms().compile(&wire.Request{Source: source, Args: []wire.Arg{{Name: "a"}}})
		if failure != nil {
			return
		}
		vm := goja.New()
		if err := vm.Set("mark", func() { t.Errorf("%q runs outside its function", source) }); err != nil {
			t.Fatal(err)
		}
		stuck := time.AfterFunc(patience, func() { vm.Interrupt("stuck") })
		defer stuck.Stop()
		made, err := vm.RunProgram(p.code)
		if err != nil {
			t.Fatalf("%q: %v", source, err)
		}
		if _, ok := goja.AssertFunction(made); !ok {
			t.Errorf("%q gives %v", source, made)
		}
	})
}
