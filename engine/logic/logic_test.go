package logic_test

import (
	"testing"

	"github.com/bir-run/bir/engine/logic"
)

func TestALiteralBodyKeepsItsText(t *testing.T) {
	tests := map[string]string{
		`return {"a":1.0,"b":9007199254740993};`: `{"a":1.0,"b":9007199254740993}`,
		"  return {\"a\": -0}\n":                 `{"a": -0}`,
		`return { a: 1 };`:                       "",
		`return {"a":params.x};`:                 "",
		`return [1];`:                            "",
		`const x = 1; return {"a":1};`:           "",
		`return {"a":1}; throw 1;`:               "",
	}
	for source, want := range tests {
		got, ok := logic.Literal(source)
		if string(got) != want || ok != (want != "") {
			t.Errorf("%s: %s, %v", source, got, ok)
		}
	}
}
