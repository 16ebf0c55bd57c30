package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mcpHeaders are the headers that repeat the body, and the version.
func mcpHeaders(h http.Header) map[string]string {
	got := map[string]string{}
	for name := range h {
		if strings.HasPrefix(name, "Mcp-") {
			got[name] = h.Get(name)
		}
	}
	return got
}

const schemaAnswer = `{"jsonrpc":"2.0","id":1,"result":{"tools":[
 {"name":"query","inputSchema":{"type":"object","properties":{
  "region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"Count"},
  "dry":{"type":"boolean","x-mcp-header":"Dry-Run"},"f":{"type":"number","x-mcp-header":"Float"},
  "bad":{"type":"string","x-mcp-header":"no good"},"twin":{"type":"string","x-mcp-header":"REGION"},
  "plain":{"type":"string"},"deep.er":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Deep"}}}}}},
 {"name":"other","inputSchema":{"type":"object"}}],"ttlMs":0}}`

func TestModernHeadersAreBuiltFromTheBody(t *testing.T) {
	var h http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request, body string) {
		if h = r.Header.Clone(); methodOf(body) == "tools/list" {
			answerJSON(w, schemaAnswer)
			return
		}
		answerJSON(w, `{"jsonrpc":"2.0","id":`+idOf(body)+`,"result":{}}`)
	})
	host := wrap(t, Config{URL: s.URL})
	host.say(modern("1", "tools/list", ""))
	host.hear()
	common := map[string]string{"Mcp-Protocol-Version": "2026-07-28"}
	for name, c := range map[string]struct {
		line string
		want map[string]string
	}{
		"a tool with marks": {modern("2", "tools/call", `"name":"query","arguments":{"region":"eu-1","n":42,"dry":true,"deep.er":{"a":"x"},"plain":"y"}`),
			map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "query", "Mcp-Param-Region": "eu-1", "Mcp-Param-Count": "42",
				"Mcp-Param-Dry-Run": "true", "Mcp-Param-Deep": "x"}},
		"values that are not plain": {modern("2", "tools/call", `"name":"query","arguments":{"region":"Zürich","deep.er":{"a":" x"}}`),
			map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "query", "Mcp-Param-Region": "=?base64?WsO8cmljaA==?=", "Mcp-Param-Deep": "=?base64?IHg=?="}},
		"values without a header": {modern("2", "tools/call", `"name":"query","arguments":{"region":null,"n":1.5,"dry":[],"f":1,"bad":"x","twin":"y"}`),
			map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "query"}},
		"big integers and odd spellings": {modern("2", "tools/call", `"name":"query","arguments":{"n":1e2,"region":"a\u0062"}`),
			map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "query", "Mcp-Param-Count": "100", "Mcp-Param-Region": "ab"}},
		"an integer beyond 2^53": {modern("2", "tools/call", `"name":"query","arguments":{"n":9007199254740993}`),
			map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "query"}},
		"the last of two members": {modern("2", "tools/call", `"name":"other","name":"query","arguments":{"region":"a","region":"b"}`),
			map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "query", "Mcp-Param-Region": "b"}},
		"a tool without marks": {modern("2", "tools/call", `"name":"other","arguments":{"region":"x"}`),
			map[string]string{"Mcp-Method": "tools/call", "Mcp-Name": "other"}},
		"a prompt":           {modern("2", "prompts/get", `"name":"p"`), map[string]string{"Mcp-Method": "prompts/get", "Mcp-Name": "p"}},
		"a resource":         {modern("2", "resources/read", `"uri":"file:///ü"`), map[string]string{"Mcp-Method": "resources/read", "Mcp-Name": "=?base64?ZmlsZTovLy/DvA==?="}},
		"anything else":      {modern("2", "server/discover", ""), map[string]string{"Mcp-Method": "server/discover"}},
		"an unknown version": {strings.ReplaceAll(modern("2", "x/y", ""), "2026-07-28", "2027-01-01"), map[string]string{"Mcp-Method": "x/y", "Mcp-Protocol-Version": "2027-01-01"}},
	} {
		for header, value := range common {
			if _, set := c.want[header]; !set {
				c.want[header] = value
			}
		}
		host.say(c.line)
		host.hear()
		if diff := cmp.Diff(c.want, mcpHeaders(h)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestEraIsDecidedForEachRequest(t *testing.T) {
	k := newKeeper()
	s := serve(t, k.answer)
	h := wrap(t, Config{URL: s.URL})
	h.say(hello)
	h.wants(hi0)
	h.say(ready, call1)
	h.wants(done1)
	if got := mcpHeaders(s.last("tools/call").Header); len(got) != 2 || got["Mcp-Method"] != "" {
		t.Errorf("a legacy call has %v", got)
	}
}

func TestStaticHeadersGoWithEveryRequest(t *testing.T) {
	k := newKeeper()
	s := serve(t, k.answer)
	h := wrap(t, Config{URL: strings.Replace(s.URL, "://", "://user:p%40ss@", 1),
		Header: map[string]string{"x-team": "blue", "User-Agent": "mine", "accept": "no", "Mcp-Session-Id": "no"}})
	h.say(hello)
	h.wants(hi0)
	h.say(ready, call1)
	h.wants(done1)
	<-k.gets
	h.up.Stop()
	for _, r := range s.requests() {
		if r.Header.Get("X-Team") != "blue" || r.Header.Get("User-Agent") != "mine" || r.Header.Get("Authorization") != "Basic dXNlcjpwQHNz" {
			t.Errorf("%s: %v", r.Method, r.Header)
		}
		if r.Header.Get("Accept") == "no" || methodOf(r.Body) != "initialize" && r.Header.Get(headerSession) != "s1" {
			t.Errorf("%s: the transport's own headers were replaced: %v", r.Method, r.Header)
		}
	}
}

func TestBadHeadersAreNamedWithoutTheirValue(t *testing.T) {
	for name, value := range map[string]string{"a b": "secret", "": "secret", "X": "secret\r\nY: z", "Content-Length": "secret", "ü": "secret"} {
		_, err := Open(t.Context(), Config{URL: "http://127.0.0.1/", Header: map[string]string{name: value}})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, url := range []string{"", "127.0.0.1:80", "ftp://secret@x/", "http:///x", "http://secret@%zz/"} {
		if _, err := Open(t.Context(), Config{URL: url}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
