package worker

import (
	"strings"
	"testing"
	"time"
)

func TestWhatGojaWouldMisreadAtRunTimeIsRefusedOrRight(t *testing.T) {
	for source, want := range map[string]string{
		"return {n: eval('2 ** 0.5')}":                                                                        `{"n":1.4142135623730951}`,
		"return {n: new Function('x', 'return x ** 30')(1.07)}":                                               `{"n":7.612255042662042}`,
		"return {n: new Function('return /(?<=a)b/v.test(\"ab\")')()}":                                        `{"n":true}`,
		"const x = 2; try { return {n: eval('x ** 2')} } catch (e) { return {n: e.name + ': ' + e.message} }": `{"n":"SyntaxError: ** is not available in code made at run time"}`,
		"try { eval('/[a--b]/v') } catch (e) { return {n: e.message} } return {n: 'fine'}":                    `{"n":"fine"}`,
		"try { eval('{ function f() {} } f()') } catch (e) { return {n: e.message} }":                         `{"n":"a function in a block is not available in code made at run time"}`,
		"try { new Function('{ function f() {} } f()') } catch (e) { return {n: e.message} }":                 `{"n":"a function in a block is not available in code made at run time"}`,
	} {
		resp := evaluator().Eval(plain(source))
		if string(resp.Value) != want || resp.Failure != nil {
			t.Errorf("%s gives %s, %+v", source, resp.Value, resp.Failure)
		}
	}
}

func TestOnlyBodiesThatMayMakeCodePayForIt(t *testing.T) {
	for source, want := range map[string]bool{
		"return {a: medieval(params.evaluate)}":                      false,
		"class A { x = 1; constructor(a) { this.a = a } } return {}": false,
		"return {a: params.x.constructor === Object}":                false,
		"return {a: params.x.constructor.name}":                      false,
		"return {a: eval(params.x)}":                                 true,
		"return {a: new Function(params.x)()}":                       true,
		"return {a: params.f.constructor(params.x)()}":               true,
		"const {constructor: F} = params.f; return {a: F('x')}":      true,
		"return {a: params.f['constructor']('return 1')()}":          true,
	} {
		if got := makesCode(source); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}

func TestCodeMadeAtRunTimeIsStoppedToo(t *testing.T) {
	for _, source := range []string{
		"new Function('for (;;) ;')()", "eval('for (;;) ;')", "(0, eval)('for (;;) ;')", "eval('(() => { for (;;) ; })() ** 2')",
		"new Function('a = () => new Function(a)()', 'for (;;) a()')()",
	} {
		req := plain(source)
		req.Timeout = 100 * time.Millisecond
		if resp := evaluator().Eval(req); resp.Failure == nil || resp.Failure.Type != typeTimeout && !strings.Contains(resp.Failure.Message, "Maximum call stack") {
			t.Errorf("%s ended with %s, %+v", source, resp.Value, resp.Failure)
		}
	}
}
