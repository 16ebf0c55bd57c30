// Package headers builds the headers in which a message of the modern era repeats
// parts of its body, so that what stands between client and server can route it. It is
// pure, but for what it remembers of the tools that were listed. It must never send
// what the body does not say: a server refuses a message whose headers differ.
package headers

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/relay/jsonrpc"
	"github.com/bir-run/bir/relay/origin"
)

const (
	// Version is the header that names the protocol revision, in both eras.
	Version = "Mcp-Protocol-Version"

	methodCall = "tools/call"
)

// nameMember is the parameter that Mcp-Name repeats, by method.
var nameMember = map[string]string{methodCall: "name", "prompts/get": "name", "resources/read": "uri"}

// Message is what matters of a message of the modern era.
type Message struct {
	Version string // the protocol revision in its _meta
	Method  string
	Params  []byte // raw
}

// Set sets what the message says in its headers, from the body that is sent (R15,
// R16).
func (s *Tools) Set(h http.Header, m Message) {
	h.Set(Version, m.Version)
	h.Set("Mcp-Method", headerValue(m.Method))
	member, named := nameMember[m.Method]
	if !named {
		return
	}
	members, _ := jsonrpc.Object(m.Params, member, "arguments")
	name := text(members[0])
	h.Set("Mcp-Name", headerValue(name))
	if m.Method != methodCall {
		return
	}
	for _, p := range s.of(name) {
		if value, ok := paramValue(argument(members[1], p.path)); ok {
			h.Set("Mcp-Param-"+p.header, headerValue(value))
		}
	}
}

const (
	base64Start = "=?base64?"
	base64End   = "?="
	// maxExact bounds the integers that every peer reads alike.
	maxExact = 1<<53 - 1
)

// headerValue is a value as a header can carry it: itself when it is plain, else in
// the Base64 form. The empty value takes that form too: an empty header is often
// taken for a missing one.
func headerValue(v string) string {
	plain := v != "" && v == strings.TrimSpace(v) && !(strings.HasPrefix(v, base64Start) && strings.HasSuffix(v, base64End))
	for i := 0; plain && i < len(v); i++ {
		plain = v[i] >= ' ' && v[i] <= '~'
	}
	if plain {
		return v
	}
	return base64Start + base64.StdEncoding.EncodeToString([]byte(v)) + base64End
}

// argument finds an argument: of two members with one name the last, as a decoder
// would.
func argument(args []byte, path []string) gjson.Result {
	for _, name := range path {
		members, _ := jsonrpc.Object(args, name)
		args = members[0]
	}
	return gjson.ParseBytes(args)
}

// paramValue is an argument as text. Only strings, booleans and exact integers have
// a header.
func paramValue(v gjson.Result) (string, bool) {
	switch v.Type {
	case gjson.String:
		return v.Str, true
	case gjson.True, gjson.False:
		return v.Raw, true
	case gjson.Number:
		if n := int64(v.Num); float64(n) == v.Num && n >= -maxExact && n <= maxExact {
			return strconv.FormatInt(n, 10), true
		}
	}
	return "", false
}

// param is an argument of a tool that its inputSchema wants in a header too.
type param struct {
	path   []string
	header string
}

// Tools remembers which tools want such headers, as the server last listed them.
type Tools struct {
	mu    sync.Mutex // guards all below
	tools map[string][]param
}

func (s *Tools) of(tool string) []param {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools[tool]
}

// Learn takes the answer to a tools/list. The first page of a list takes the place
// of the list before (R7).
func (s *Tools) Learn(answer []byte, firstPage bool) {
	learned := map[string][]param{}
	if bytes.Contains(answer, []byte("x-mcp-header")) {
		gjson.GetBytes(answer, "result.tools").ForEach(func(_, tool gjson.Result) bool {
			var found []param
			collect(tool.Get("inputSchema.properties"), nil, map[string]bool{}, &found)
			learned[tool.Get("name").Str] = found
			return true
		})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if firstPage || s.tools == nil {
		s.tools = map[string][]param{}
	}
	for name, found := range learned {
		s.tools[name] = found
	}
}

// collect walks a schema's properties. A mark that the specification does not allow
// is passed over: no server can rely on it.
func collect(properties gjson.Result, prefix []string, seen map[string]bool, found *[]param) {
	properties.ForEach(func(name, schema gjson.Result) bool {
		path := append(slices.Clone(prefix), name.Str)
		header := schema.Get("x-mcp-header").Str
		lower := strings.ToLower(header)
		if origin.IsToken(header) && isPrimitive(schema.Get("type").Str) && !seen[lower] {
			seen[lower] = true
			*found = append(*found, param{path, header})
		}
		collect(schema.Get("properties"), path, seen, found)
		return true
	})
}

func isPrimitive(kind string) bool { return kind == "string" || kind == "integer" || kind == "boolean" }

// text decodes a JSON string; it is empty for anything else.
func text(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return gjson.ParseBytes(raw).Str
}
