package worker

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOnlyTheFunctionsOfMathThatABodyCallsAreReplaced(t *testing.T) {
	every := len(everyMath())
	for source, want := range map[string]int{
		"return {a: params.x + 1}":                   0,
		"return {a: Math.PI * Math.LOG2E}":           0,
		"return {a: Math.round(params.x)}":           0,
		"return {a: Math.pow(2, params.x)}":          1,
		"return {a: Math . log2(Math?.sin(1))}":      2,
		"const {sin} = Math; return {a: sin(1)}":     every,
		"const f = 'cos'; return {a: Math[f](1)}":    every,
		"return {a: [1, 2].map(Math.cbrt), b: Math}": every,
	} {
		called := slices.DeleteFunc(slices.Collect(maps.Keys(mathsOf(source))), func(name string) bool { return !everyMath()[name] })
		if len(called) != want {
			t.Errorf("%s: replaces %v", source, called)
		}
	}
}

func TestDigitsAreThoseOfNode(t *testing.T) {
	for source, want := range map[string]string{
		"return {n: 1.07 ** (41 + params.x)}":                               `{"n":17.144256780108076}`,
		"return {n: Math.pow(1.07, 41 + params.x)}":                         `{"n":17.144256780108076}`,
		"let n = 1.07; n **= 41 + params.x; return {n}":                     `{"n":17.144256780108076}`,
		"return {n: 10 ** -5}":                                              `{"n":0.000009999999999999999}`,
		"return {n: Math.sin((41 + params.x) * Math.PI / 180)}":             `{"n":0.6691306063588582}`,
		"const {tan} = Math; return {n: tan(41 + params.x)}":                `{"n":2.2913879924374863}`,
		"return {n: String(2n ** 70n)}":                                     `{"n":"1180591620717411303424"}`,
		"try { 2n ** (10n ** 10n) } catch (e) { return {n: e.message} }":    `{"n":"Maximum BigInt size exceeded"}`,
		"return {n: (2 ** 60).toString(3)}":                                 `{"n":"21200101122222021102111220121112210000"}`,
		"const o = {p: {q: 3}}; o.p.q **= 0.5; return {n: o.p.q}":           `{"n":1.7320508075688772}`,
		"return {n: [typeof globalThis['%power'], Math.pow.length].join()}": `{"n":"undefined,2"}`,
	} {
		resp := evaluator().Eval(plain(source))
		if diff := cmp.Diff(want, string(resp.Value)); diff != "" || resp.Failure != nil {
			t.Errorf("%s: %+v (-want +got):\n%s", source, resp.Failure, diff)
		}
	}
}

func TestAPowerThatNeedsTooMuchMemoryEndsTheBody(t *testing.T) {
	resp := evaluator().Eval(plain("return {n: String(3n ** 600000000n).length}"))
	if resp.Failure == nil || resp.Failure.Type != typeMemory {
		t.Errorf("ended with %+v", resp.Failure)
	}
}

func TestIntegersAreReadAsInNode(t *testing.T) {
	for source, want := range map[string]string{
		"return {n: parseInt('852808807948509237131')}":           `{"n":852808807948509200000}`,
		"return {n: parseInt('6hufl4qo0eu', 33)}":                 `{"n":10021327990677626}`,
		"return {n: 1 / parseInt(' -0') < 0}":                     `{"n":true}`,
		"return {n: Number.parseInt === parseInt}":                `{"n":true}`,
		"return {n: 0x20000000000001800001}":                      `{"n":1.5111572745182868e+23}`,
		"return {n: parseInt('0x' + '1'.repeat(100000)) > 1e308}": `{"n":true}`,
	} {
		resp := evaluator().Eval(plain(source))
		if string(resp.Value) != want || resp.Failure != nil {
			t.Errorf("%s gives %s, %+v", source, resp.Value, resp.Failure)
		}
	}
}
