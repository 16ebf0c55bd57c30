package headers

import (
	"strings"
	"testing"
)

func TestFreshListReplacesTheMarks(t *testing.T) {
	var s Tools
	tool := func(name, mark string) string {
		return `{"name":"` + name + `","inputSchema":{"properties":{"a":{"type":"string"` + mark + `}}}}`
	}
	list := func(tools ...string) []byte {
		return []byte(`{"result":{"tools":[` + strings.Join(tools, ",") + `]}}`)
	}
	const mark = `,"x-mcp-header":"A"`
	s.Learn(list(tool("one", mark)), true)
	s.Learn(list(tool("two", mark)), false)
	if len(s.of("one")) != 1 || len(s.of("two")) != 1 {
		t.Error("the second page took the place of the first")
	}
	s.Learn(list(tool("two", mark)), true)
	if len(s.of("one")) != 0 || len(s.of("two")) != 1 {
		t.Error("a fresh list did not take the place of the old")
	}
	s.Learn(list(tool("two", "")), true)
	if len(s.of("two")) != 0 {
		t.Error("a mark that is gone is still used")
	}
	s.Learn([]byte(`{"error":{"message":"x-mcp-header"}}`), true)
}

func TestHeaderValues(t *testing.T) {
	for v, want := range map[string]string{
		"plain text!": "plain text!", "": "=?base64??=", "\t": "=?base64?CQ==?=", "a\nb": "=?base64?YQpi?=",
		"=?base64?x?=": "=?base64?PT9iYXNlNjQ/eD89?=", "=?base64?": "=?base64?", "x ": "=?base64?eCA=?=", "\x7f": "=?base64?fw==?=",
	} {
		if got := headerValue(v); got != want {
			t.Errorf("%q: %q, want %q", v, got, want)
		}
	}
}
