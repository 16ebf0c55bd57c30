package jsonrpc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen is what a line was found to be, as text.
type seen struct {
	Kind                          Kind
	Method, ID                    string
	Params, Result, Error, RawLen string
}

func see(m Message) seen {
	return seen{Kind: m.Kind, Method: m.Method, ID: string(m.ID),
		Params: string(m.Params()), Result: string(m.Result()), Error: string(m.Error())}
}

func TestLinesAreNamedByTheirTopLevelMembers(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want seen
	}{
		"request": {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`,
			seen{Kind: Request, Method: "tools/call", ID: "1", Params: `{"name":"echo"}`}},
		"method after huge params": {`{"params":{"a":"` + strings.Repeat(`x\"y`, 9000) + `"},"id":"a","method":"m"}`,
			seen{Kind: Request, Method: "m", ID: `"a"`, Params: `{"a":"` + strings.Repeat(`x\"y`, 9000) + `"}`}},
		"nested method and id are not the message's": {`{"params":{"method":"tools/call","id":7},"method":"ping","id":8}`,
			seen{Kind: Request, Method: "ping", ID: "8", Params: `{"method":"tools/call","id":7}`}},
		"last of two members wins": {`{"id":1,"method":"tools/call","id":2,"method":"ping"}`,
			seen{Kind: Request, Method: "ping", ID: "2"}},
		"escaped key and method": {`{"m\u0065thod":"tools\/c\u0061ll","\u0069d":0}`,
			seen{Kind: Request, Method: "tools/call", ID: "0"}},
		"a value that looks like a key":   {`{"x":"method","y":"id","method":"m"}`, seen{Kind: Notification, Method: "m"}},
		"empty id":                        {`{"id":"","method":"m"}`, seen{Kind: Request, Method: "m", ID: `""`}},
		"null id is a notification":       {`{"id":null,"method":"m"}`, seen{Kind: Notification, Method: "m", ID: "null"}},
		"big id keeps its text":           {`{"id":9007199254740993,"result":{}}`, seen{Kind: Response, ID: "9007199254740993", Result: "{}"}},
		"odd number ids keep their text":  {`{"id":1.0 ,"result":-0 }`, seen{Kind: Response, ID: "1.0", Result: "-0"}},
		"result before id":                {`{"result":{"a":[1,"]}"]},"jsonrpc":"2.0","id":2}`, seen{Kind: Response, ID: "2", Result: `{"a":[1,"]}"]}`}},
		"error":                           {`{"id":2,"error":{"code":-1,"message":"x"}}`, seen{Kind: Response, ID: "2", Error: `{"code":-1,"message":"x"}`}},
		"null result is a result":         {`{"id":2,"result":null}`, seen{Kind: Response, ID: "2", Result: "null"}},
		"white space everywhere":          {" \t{ \"id\" : 5 , \"method\" : \"m\" } \r\n", seen{Kind: Request, Method: "m", ID: "5"}},
		"batch":                           {`[{"id":1,"method":"m"}]`, seen{Kind: Batch}},
		"neither request nor answer":      {`{"id":1}`, seen{Kind: Other, ID: "1"}},
		"blank":                           {"\r\n", seen{Kind: Blank}},
		"empty":                           {"", seen{Kind: Blank}},
		"text":                            {"Server running on stdio\n", seen{Kind: Noise}},
		"cut object":                      {`{"id":1,"method":"m"`, seen{Kind: Noise}},
		"two objects":                     {`{"id":1,"method":"m"}{}`, seen{Kind: Noise}},
		"a number":                        {"12\n", seen{Kind: Noise}},
		"method that is no string":        {`{"id":1,"method":7}`, seen{Kind: Other, ID: "1"}},
		"string that ends in backslashes": {`{"id":"\\\\","method":"m"}`, seen{Kind: Request, Method: "m", ID: `"\\\\"`}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, see(Classify([]byte(c.line)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnIDTooLongToKeepIsNeverMatched(t *testing.T) {
	m := Classify([]byte(`{"id":"` + strings.Repeat("x", maxCaptureBytes) + `","method":"m"}`))
	if m.Kind != Request || m.ID != nil {
		t.Errorf("kind %v with an id of %d bytes, want a request without one", m.Kind, len(m.ID))
	}
}

func TestEqualIDsHaveOneKey(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{`1`, `1.0`}, {`100`, `1e2`}, {`0`, `-0`}, {`"caf\u00e9"`, `"café"`}, {`""`, `""`},
		{`9007199254740993`, `9007199254740993`},
	} {
		a, okA := Key([]byte(c.a))
		b, okB := Key([]byte(c.b))
		if !okA || !okB || a != b {
			t.Errorf("Key(%s) = %q %v, Key(%s) = %q %v, want one key", c.a, a, okA, c.b, b, okB)
		}
	}
}

func TestDifferentIDsHaveDifferentKeys(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{`0`, `""`, `"0"`, `1`, `-1`, `"-1"`, `9007199254740992`, `9007199254740993`, `12345678901234567890`} {
		key, ok := Key([]byte(id))
		if !ok {
			t.Errorf("Key(%s) is none", id)
		}
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s share the key %q", id, other, key)
		}
		seen[key] = id
	}
}

func TestWhatIsNoIDHasNoKey(t *testing.T) {
	for _, id := range []string{``, `null`, `true`, `1.5`, `1e400`, `{}`, `[]`, `01`, `-`} {
		if key, ok := Key([]byte(id)); ok && id != `01` {
			t.Errorf("Key(%s) = %q, want none", id, key)
		}
	}
}

func TestBatchElementsAreMessages(t *testing.T) {
	m := Classify([]byte(` [ {"id":1,"method":"a"}, 7, {"method":"b"},{"id":2,"result":{}} ]` + "\n"))
	var got []seen
	for _, e := range m.Elements() {
		got = append(got, see(e))
	}
	want := []seen{{Kind: Request, Method: "a", ID: "1"}, {Kind: Noise},
		{Kind: Notification, Method: "b"}, {Kind: Response, ID: "2", Result: "{}"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestABrokenBatchHasNoElements(t *testing.T) {
	m := Classify([]byte(`[{"id":1,"method":"a"},`))
	if m.Kind != Batch || m.Elements() != nil {
		t.Errorf("got %v with %d elements", m.Kind, len(m.Elements()))
	}
}

func BenchmarkScanText(b *testing.B) {
	text := strings.Repeat(`path/to/file.go \"name\" 0x7f3a if err != nil { return }\n`, 18<<10)
	line := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + text + `"}],"isError":false}}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Classify(line)
	}
}

func BenchmarkScanStructure(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","id":1,"result":[` + strings.Repeat(`{"id":12345,"ok":true,"tags":["a","b"]},`, 25<<10) + `0]}`)
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		Classify(line)
	}
}

func TestAnIDCanBeExchanged(t *testing.T) {
	m := Classify([]byte(` {"id" : 7 ,"method":"m","params":{"id":7}}` + "\n"))
	if got, want := string(m.WithID(`"bir:x"`)), ` {"id" : "bir:x" ,"method":"m","params":{"id":7}}`+"\n"; got != want {
		t.Errorf("got %s", got)
	}
	none := Classify([]byte(`{"method":"m"}`))
	if none.WithID("1") != nil {
		t.Error("a message without an id got one")
	}
}
