package worker

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func filesOf(source string) []string {
	var files []string
	for _, f := range featuresOf(source) {
		files = append(files, f.file)
	}
	return files
}

func TestOnlyWhatABodyMentionsIsDefined(t *testing.T) {
	for source, want := range map[string][]string{
		"return {a: params.x + 1}":                  nil,
		"return Object.keys(params).map(k => k)":    nil,
		"return Object.groupBy(params.a, f)":        {"group.js"},
		"return atob(params.x)":                     {"exception.js", "encoding.js"},
		"return [1].values().map(f)":                {"iterator.js"},
		"return new URL(params.u).host":             {"url.js"},
		"const curl = 1, URLs = 2; return {}":       nil,
		"async function* g() { yield 1 } return {}": {"language.js", "iterator.js"},
	} {
		if diff := cmp.Diff(want, filesOf(source)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}

func TestEveryFeatureLoads(t *testing.T) {
	var all []string
	for _, f := range features() {
		all = append(all, strings.Fields(f.words)...)
		if _, err := f.load(); err != nil {
			t.Errorf("%s: %v", f.file, err)
		}
	}
	req := plain("/* " + strings.Join(all, " ") + " async yield */ return {n: typeof Buffer + typeof URL}")
	resp := evaluator().Eval(req)
	if resp.Failure != nil || string(resp.Value) != `{"n":"functionfunction"}` {
		t.Errorf("gave %s, %+v", resp.Value, resp.Failure)
	}
}

func TestHelpersOfTheEngineAreOutOfReach(t *testing.T) {
	req := plain(`
		const names = Object.getOwnPropertyNames(globalThis).filter(n => n.startsWith('%') || n === 'define');
		try { /(?=a)/.test('a'); null.x } catch (e) { names.push(typeof globalThis['%regexp'], typeof globalThis['%error']) }
		return {names}`)
	resp := evaluator().Eval(req)
	if want := `{"names":["undefined","undefined"]}`; string(resp.Value) != want {
		t.Errorf("gave %s, %+v", resp.Value, resp.Failure)
	}
}

func TestBacktrackingIsInterrupted(t *testing.T) {
	req := plain(`return {r: /^(?=(a+)+$)/.test('a'.repeat(64) + 'b')}`)
	req.Timeout = soon
	resp := evaluator().Eval(req)
	if resp.Failure == nil || resp.Failure.Type != typeTimeout || resp.Retire {
		t.Errorf("ended with %+v, retire %v", resp.Failure, resp.Retire)
	}
}
