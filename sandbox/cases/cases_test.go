package cases_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
	"github.com/google/go-cmp/cmp"
)

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFolderLoadsInTheOrderOfNames(t *testing.T) {
	dir := t.TempDir()
	second := write(t, dir, "b.json", `[{"id":"2","kind":"params","body":"return {}"}]`)
	first := write(t, dir, "a.json", `[{"id":"1","kind":"raw","body":"return 1","args":{"z":1,"a":2,"m":null},"expect":{"value":1}}]`)
	write(t, dir, "notes.txt", `not read`)
	got, err := cases.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []cases.Case{
		{
			ID:     "1",
			Body:   sandbox.Body{Kind: sandbox.KindRaw, Source: "return 1"},
			Args:   sandbox.Args{Raw: []sandbox.Arg{{Name: "z", Value: json.RawMessage("1")}, {Name: "a", Value: json.RawMessage("2")}, {Name: "m", Value: json.RawMessage("null")}}},
			Expect: &cases.Expect{Value: json.RawMessage("1")},
			Place:  cases.Place{File: first},
		},
		{ID: "2", Body: sandbox.Body{Kind: sandbox.KindParams, Source: "return {}"}, Place: cases.Place{File: second}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnObjectAsToolOutputIsPassedAsItsText(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{`{"toolOutput":{"b": 1, "a":[1.50]}}`, `{"b":1,"a":[1.50]}`},
		{`{"toolOutput":"{\"b\": 1}"}`, `{"b": 1}`},
		{`{"toolOutput":[1, 2]}`, `[1,2]`},
	} {
		args, err := cases.ParseArgs(sandbox.KindToolOutput, []byte(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		if args.ToolOutput != tt.want {
			t.Errorf("%s: toolOutput is %q, want %q", tt.args, args.ToolOutput, tt.want)
		}
	}
}

func TestBadFilesAreExplainedInOneSentence(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"cut", "[\n {\"id\":\"a\",}", `:2:12: not JSON: `},
		{"not utf-8", "[{\"id\":\"\xff\"}]", `:1:9: not UTF-8`},
		{"an object", `{"id":"a"}`, `:1:1: a JSON object stands where a list belongs`},
		{"no body", `[{"id":"a","kind":"raw"}]`, `: case 1 (a): it has no body`},
		{"kind", `[{"kind":"x","body":""}]`, `: case 1: kind is "x", not one of params, toolInput, toolOutput, responseParams, raw`},
		{"args", `[{"kind":"raw","body":"","args":[1]}]`, `args is not an object`},
		{"unknown arg", `[{"kind":"params","body":"","args":{"parms":{}}}]`, `args has "parms"`},
		{"expect", `[{"kind":"raw","body":"","expect":{"error":"sandbox"}}]`, `expect.error is "sandbox"`},
		{"both", `[{"kind":"raw","body":"","expect":{"value":1,"error":"throw"}}]`, `one of them`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := write(t, t.TempDir(), "cases.json", tt.text)
			_, err := cases.Load(path)
			if err == nil || !strings.HasPrefix(err.Error(), path) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want the path and %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
	if _, err := cases.Load(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("missing file: %v", err)
	}
	if _, err := cases.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no *.json file") {
		t.Errorf("empty folder: %v", err)
	}
}

func TestDiffComparesValuesAndNamesTheFirstDifference(t *testing.T) {
	for _, tt := range []struct{ want, got, diff string }{
		{`{"a":1,"b":[1,2]}`, `{"b":[1,2.0],"a":1e0}`, ""},
		{`12345678901234567890`, `12345678901234567891`, "result is 12345678901234567891, expected 12345678901234567890"},
		{`{"a":{"b":[1,{"c d":2}]}}`, `{"a":{"b":[1,{"c d":3}]}}`, `result.a.b[1]["c d"] is 3, expected 2`},
		{`{"a":1}`, `{}`, "result.a is missing, expected 1"},
		{`{}`, `{"a":1}`, "result.a is 1, expected nothing there"},
		{`[1]`, `[1,2]`, "result has 2 items, expected 1"},
		{`null`, `0`, "result is 0, expected null"},
		{`1e999999999`, `1e999999998`, "result is 1e999999998, expected 1e999999999"},
		{`"1"`, `1`, `result is 1, expected "1"`},
	} {
		if got := cases.Diff(json.RawMessage(tt.want), json.RawMessage(tt.got)); got != tt.diff {
			t.Errorf("Diff(%s, %s) = %q, want %q", tt.want, tt.got, got, tt.diff)
		}
	}
}

type evaluatorFunc func(sandbox.Body) (sandbox.Result, error)

func (f evaluatorFunc) Eval(_ context.Context, body sandbox.Body, _ sandbox.Args) (sandbox.Result, error) {
	return f(body)
}

func TestOutcomesAreJudgedByTheExpectation(t *testing.T) {
	evaluator := evaluatorFunc(func(body sandbox.Body) (sandbox.Result, error) {
		switch body.Source {
		case "value":
			return sandbox.Result{Value: json.RawMessage("1")}, nil
		case "throw":
			return sandbox.Result{}, &sandbox.Error{Type: sandbox.TypeThrow, Message: "Error: no", Console: []string{"seen"}}
		}
		return sandbox.Result{}, context.Canceled
	})
	value, throw := &cases.Expect{Value: json.RawMessage("1")}, &cases.Expect{Error: sandbox.TypeThrow}
	for _, tt := range []struct {
		source string
		expect *cases.Expect
		ok     bool
		diff   string
	}{
		{"value", nil, true, ""},
		{"value", value, true, ""},
		{"value", throw, false, "expected an error of type throw, got a value"},
		{"throw", nil, false, ""},
		{"throw", throw, true, ""},
		{"throw", value, false, "expected a value, got an error of type throw: Error: no"},
		{"throw", &cases.Expect{Error: sandbox.TypeTimeout}, false, "expected an error of type timeout, got throw: Error: no"},
	} {
		c := cases.Case{ID: "x", Body: sandbox.Body{Source: tt.source}, Expect: tt.expect}
		for out, err := range cases.Run(t.Context(), evaluator, []cases.Case{c}) {
			if err != nil {
				t.Fatal(err)
			}
			if out.OK != tt.ok || out.Difference != tt.diff {
				t.Errorf("%s, %+v: ok %v, %q", tt.source, tt.expect, out.OK, out.Difference)
			}
		}
	}
	ran := 0
	gone := []cases.Case{{Body: sandbox.Body{Source: "end"}}, {Body: sandbox.Body{Source: "value"}}}
	for _, err := range cases.Run(t.Context(), evaluator, gone) {
		if ran++; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
	if ran != 1 {
		t.Errorf("%d cases after the caller's end, want 1", ran)
	}
}
