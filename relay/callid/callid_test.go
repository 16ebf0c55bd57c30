package callid

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestTheMemberIsTakenOutWithItsComma(t *testing.T) {
	for _, c := range []struct{ in, want, id string }{
		{`{"__bir_call_id__":"x"}`, `{}`, "x"},
		{`{ "__bir_call_id__" : "x" }`, `{  }`, "x"},
		{`{"a":1.0,"__bir_call_id__":"x"}`, `{"a":1.0}`, "x"},
		{`{"__bir_call_id__":"x","a":-0}`, `{"a":-0}`, "x"},
		{`{"a":1 , "__bir_call_id__":"x" , "b":[1,{"c":2}]}`, `{"a":1  , "b":[1,{"c":2}]}`, "x"},
		{`{"a":1,"__bir_call_id__":"x","__bir_call_id__":"y","b":2}`, `{"a":1,"b":2}`, "y"},
		{`{"__bir_call_id__":"x","__bir_call_id__":"y"}`, `{}`, "y"},
		{`{"__bir_call_id\u005f_":"\u0078"}`, `{}`, "x"},
		{`{"a":{"__bir_call_id__":"x"}}`, `{"a":{"__bir_call_id__":"x"}}`, ""},
		{`{"a":"__bir_call_id__"}`, `{"a":"__bir_call_id__"}`, ""},
		{`{"a":1,`, `{"a":1,`, ""}, {`[1]`, `[1]`, ""}, {``, ``, ""},
	} {
		got, id := Take([]byte(c.in))
		if string(got) != c.want || id != c.id {
			t.Errorf("%s: %s %q, want %s %q", c.in, got, id, c.want, c.id)
		}
	}
}

func TestOnlyCallsLoseTheMember(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1e400,"__bir_call_id__":"x"}}}` + "\r\n": `{"id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":1e400}}}` + "\r\n",
		`{"params":{"arguments":{"__bir_call_id__":"x"}},"method":"tools\/call"}`:                                     `{"params":{"arguments":{}},"method":"tools\/call"}`,
		`[{"method":"tools/call","params":{"arguments":{"__bir_call_id__":"x"}}},{"method":"ping"}]`:                  `[{"method":"tools/call","params":{"arguments":{}}},{"method":"ping"}]`,
		`{"method":"prompts/get","params":{"arguments":{"__bir_call_id__":"x"}}}`:                                     "",
		`{"method":"tools/call","params":{"arguments":{"a":1}}}`:                                                      "",
		`{"method":"tools/call"}`:                                  "",
		`{"method":"tools/call","params":{"__bir_call_id__":"x"}}`: "",
		`{"method":"tools/call","params":{"arguments":"x"}`:        "",
		`not json`: "",
		`{"method":"tools/call","params":{"arguments":[],"method":1}}`: "",
	} {
		if got := string(TakeFrom([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestEveryToolsSchemaDeclaresTheMember(t *testing.T) {
	d := declaration
	for in, want := range map[string]string{
		`{"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"p":{}},"additionalProperties":false}}],"ttlMs":1.0}}`: `{"id":1,"result":{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"p":{},` + d + `},"additionalProperties":false}}],"ttlMs":1.0}}`,
		`{"result":{"tools":[{"inputSchema":{"properties":{ }}},{"inputSchema":{}} , {"name":"none"}]}}`:                                            `{"result":{"tools":[{"inputSchema":{"properties":{` + d + ` }}},{"inputSchema":{"properties":{` + d + `}}} , {"name":"none"}]}}`,
		`{"result":{"tools":[{"inputSchema":{"type":"object"}}]}}`:                                                                                  `{"result":{"tools":[{"inputSchema":{"type":"object","properties":{` + d + `}}}]}}`,
		`{"result":{"tools":[{"inputSchema":{"properties":{"__bir_call_id__":{}}}}]}}`:                                                              "",
		`{"result":{"tools":[{"inputSchema":true}]}}`:                                                                                               "", `{"result":{"tools":{}}}`: "", `{"error":{}}`: "", `{"result":{"tools":[`: "",
	} {
		if got := string(Declare([]byte(in))); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", in, got, want)
		}
	}
}

// FuzzTake holds that what a hook adds, at any place, is what is taken out again.
func FuzzTake(f *testing.F) {
	f.Add(`{"a":1.0,"b":[{"c":"\u00e9,}"}] , "d":-0}`, "id", uint8(1), false)
	f.Add(`{ }`, `"\`, uint8(0), true)
	f.Add(`{"x":{"y":{}}}`, "", uint8(9), true)
	f.Fuzz(func(t *testing.T, args, id string, place uint8, batch bool) {
		if !json.Valid([]byte(args)) || strings.Contains(args, "bir") {
			return
		}
		members, ok := object([]byte(args), 0)
		if !ok {
			return
		}
		value, _ := json.Marshal(id)
		added := `"` + Key + `":` + string(value)
		at, comma := 1, ""
		if n := len(members); n > 0 {
			comma = ","
			if i := int(place) % (n + 1); i > 0 {
				at = members[i-1].end
			}
		}
		piece := added + comma
		if at > 1 {
			piece = comma + added
		}
		with := args[:at] + piece + args[at:]
		var wantID string
		_ = json.Unmarshal(value, &wantID)
		if got, gotID := Take([]byte(with)); string(got) != args || gotID != wantID {
			t.Fatalf("from %s: %s %q, want %s %q", with, got, gotID, args, wantID)
		}
		line := func(args string) string {
			l := `{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"a","arguments":` + args + `}}`
			if batch {
				l = "[" + l + ",7]"
			}
			return l + "\n"
		}
		if got := TakeFrom([]byte(line(with))); string(got) != line(args) {
			t.Fatalf("from the line %s: %s", line(with), got)
		}
		if got := TakeFrom([]byte(line(args))); got != nil {
			t.Fatalf("from a line without the member: %s", got)
		}
	})
}

// FuzzDeclare holds that taking out the declarations gives back the answer, that
// nothing but them was added, and that no line makes it fail.
func FuzzDeclare(f *testing.F) {
	f.Add([]byte(`{"id":1,"result":{"tools":[{"inputSchema":{"properties":{"a":{}}}},{"inputSchema":{"properties":{}}}]}}` + "\n"))
	f.Add([]byte(`[{"result":{"tools":[{"inputSchema":{ "type" : "object" }}]}}]`))
	f.Fuzz(func(t *testing.T, line []byte) {
		TakeFrom(line)
		got := Declare(line)
		if got == nil || bytes.Contains(line, []byte("bir")) {
			return
		}
		back := string(got)
		for _, form := range []string{`,"properties":{` + declaration + `}`, `"properties":{` + declaration + `}`, "," + declaration, declaration} {
			back = strings.ReplaceAll(back, form, "")
		}
		if json.Valid(line) {
			if !json.Valid(got) {
				t.Fatalf("%s became %s", line, got)
			}
			if back != string(line) && !strings.Contains(string(line), `"properties":{}`) {
				t.Fatalf("%s came back as %s", line, back)
			}
			if again := Declare(got); again != nil {
				t.Fatalf("declared twice: %s", again)
			}
		}
	})
}
