package jsonrpc

import (
	"strings"
	"testing"
)

func TestPiecesAreNamedLikeTheWholeLine(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":"\"id\":2"}}`,
		`{"result":{"x":[1,2,"]"]},"jsonrpc":"2.0","id":"a\"b"}`, `{"error":{},"id":null}`, `[{"id":1}]`, `<html>`, ``, `{"id":1`,
	} {
		want := Classify([]byte(line))
		var p Pieces
		for range 2 { // a second line with the same value
			for _, c := range []byte(line) {
				p.Add([]byte{c})
			}
			got := p.Message()
			if got.Kind != want.Kind || got.Method != want.Method || string(got.ID) != string(want.ID) || !got.Cut || got.Size != len(line) {
				t.Errorf("%s: %+v, want %+v", line, got, want)
			}
		}
	}
}

func TestHeadFindsTheAnswersID(t *testing.T) {
	rest := strings.Repeat(`[1,"x"],`, 1000)
	for line, id := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":[` + rest + `0]}`: "7",
		`{"result":[` + rest + `0],"jsonrpc":"2.0","id":8}`: "8",
		`{"id":"x","error":{"code":1}}`:                     `"x"`,
	} {
		if m := Head([]byte(line)); m.Kind != Response || string(m.ID) != id {
			t.Errorf("%.40s: kind %d, id %s", line, m.Kind, m.ID)
		}
	}
	if m := Head([]byte(`{"id":1,"method":"ping"}`)); m.Kind != Request || m.Method != "ping" {
		t.Errorf("a request is %+v", m)
	}
}

func TestIDCanBeFoundInItsLine(t *testing.T) {
	for _, line := range []string{`{"id":7,"result":{"id":8}}`, `{"result":{"id":8}, "id" : "a\"b" }`, `{"id":1,"id":2,"error":{}}`} {
		for _, m := range []Message{Classify([]byte(line)), Head([]byte(line))} {
			if start, end := m.IDAt(); line[start:end] != string(m.ID) {
				t.Errorf("%s: %q, want %q", line, line[start:end], m.ID)
			}
		}
	}
	if m := Classify([]byte(`{"method":"x"}`)); func() int { _, end := m.IDAt(); return end }() != 0 {
		t.Error("an id was found where there is none")
	}
}
