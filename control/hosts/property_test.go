package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/bir-run/bir/control/hosts/journal"
	"github.com/bir-run/bir/control/hosts/jsonedit"
	"github.com/bir-run/bir/control/hosts/patch"
	"github.com/bir-run/bir/control/hosts/shape"
	"github.com/bir-run/bir/control/hosts/tomledit"
)

var keyedShape = shape.Shape{
	Servers: []string{"mcpServers"}, Kind: "type", Local: []string{"stdio"}, Remote: map[string]string{"http": "http", "sse": "sse"},
	URLs: []shape.URL{{Key: "url", Transport: "http"}}, Headers: "headers", Env: "env",
}

var tableShape = shape.Shape{
	Servers: []string{"mcp_servers"}, URLs: []shape.URL{{Key: "url", Transport: "http"}}, Headers: "http_headers", Env: "env",
}

// writer draws texts as people and programs write them.
type writer struct {
	*rapid.T
	newline, unit string
	comments      bool
	n             int
}

func newWriter(t *rapid.T) *writer {
	return &writer{T: t,
		newline:  rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline"),
		unit:     rapid.SampledFrom([]string{"  ", "    ", "\t"}).Draw(t, "unit"),
		comments: rapid.Bool().Draw(t, "comments"),
	}
}

func (w *writer) pick(of ...string) string { return rapid.SampledFrom(of).Draw(w.T, "pick") }

func (w *writer) text() string {
	return rapid.SampledFrom([]string{"x", "a b", `q"uote`, `back\slash`, "ü", "--", "-y", "${V}", "<&>", "tab\t"}).Draw(w.T, "text")
}

func (w *writer) comment() string {
	if !w.comments {
		return ""
	}
	w.n++
	return w.pick("", "", "", fmt.Sprintf(" /* c%d, */", w.n))
}

// object writes members over lines or on one, sometimes with a trailing comma.
func (w *writer) list(open, end string, members []string, depth int, oneLine bool) string {
	if len(members) == 0 {
		return w.pick(open+end, open+" "+end)
	}
	gap, last := " ", " "
	if !oneLine {
		gap = w.newline + strings.Repeat(w.unit, depth+1)
		last = w.newline + strings.Repeat(w.unit, depth)
	}
	var b strings.Builder
	b.WriteString(open)
	for i, m := range members {
		b.WriteString(w.comment() + gap + m + w.comment())
		if i < len(members)-1 || w.comments && w.pick("", ",") == "," {
			b.WriteString(",")
		}
	}
	return b.String() + last + end
}

func (w *writer) strings(n int) (quoted []string) {
	for range n {
		quoted = append(quoted, jsonedit.Quote(w.text()))
	}
	return quoted
}

func (w *writer) member(key, value string) string {
	return jsonedit.Quote(key) + w.comment() + w.pick(": ", ":", " : ") + value
}

func (w *writer) server(depth int) string {
	oneLine := rapid.Bool().Draw(w.T, "one line")
	more := w.member("timeout", w.pick("1", "1.50", "1e3"))
	if rapid.Bool().Draw(w.T, "remote") {
		members := []string{w.member("url", `"https://h/x?k=hush"`)}
		if rapid.Bool().Draw(w.T, "headers") {
			value := w.list("{", "}", []string{w.member("Authorization", jsonedit.Quote("Bearer hush"+w.text()))}, depth+1, oneLine)
			members = append(members, w.member("headers", value))
		}
		if rapid.Bool().Draw(w.T, "kind") {
			members = append([]string{w.member("type", w.pick(`"http"`, `"sse"`))}, members...)
		}
		return w.list("{", "}", append(members, more), depth, oneLine)
	}
	members := []string{w.member("command", jsonedit.Quote(w.text()))}
	if rapid.Bool().Draw(w.T, "args") {
		args := w.strings(rapid.IntRange(0, 3).Draw(w.T, "n"))
		members = append(members, w.member("args", w.list("[", "]", args, depth+1, oneLine)))
	}
	members = rapid.Permutation(append(members, more, w.member("env", `{"K":"hush"}`))).Draw(w.T, "order")
	return w.list("{", "}", members, depth, oneLine)
}

func (w *writer) file() (text string, names []string) {
	var servers []string
	for i := range rapid.IntRange(0, 3).Draw(w.T, "servers") {
		names = append(names, fmt.Sprintf("s%d", i))
		servers = append(servers, w.member(names[i], w.server(2)))
	}
	members := []string{w.member("n", "1.0e0")}
	if len(servers) > 0 || rapid.Bool().Draw(w.T, "empty") {
		members = append(members, w.member("mcpServers", w.list("{", "}", servers, 1, false)))
	}
	if rapid.Bool().Draw(w.T, "hooks") {
		members = append(members, w.member("hooks", w.list("{", "}", []string{w.member("Stop", `[{"hooks":[{"command":"mine"}]}]`)}, 1, false)))
	}
	members = rapid.Permutation(members).Draw(w.T, "order")
	return w.pick("", "\ufeff") + w.list("{", "}", members, 0, rapid.Bool().Draw(w.T, "one line")) + w.pick("", w.newline), names
}

func opsFor(names []string) (ops []Op) {
	for _, name := range names {
		ops = append(ops, Op{Kind: journal.Wrap, Path: []string{"mcpServers", name}, Server: name, Wrap: shape.Wrap{Proxy: "/b/bir-proxy", Name: name}})
	}
	return append(ops,
		Op{Kind: journal.Put, Path: []string{"projects", "/w", "mcpServers", "c"}, Server: "c", Value: json.RawMessage(`{"command":"/b/bir-proxy","args":["--server-name","c","--","srv"]}`)},
		Op{Kind: journal.Add, Path: []string{"hooks", "Stop"}, Value: json.RawMessage(`{"hooks":[{"type":"command","command":"/b/bir-hooks"}]}`)},
		Op{Kind: journal.Add, Path: []string{"hooks", "SessionEnd"}, Value: json.RawMessage(`{"hooks":[{"type":"command","command":"/b/bir-hooks"}]}`)},
	)
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// roundTrip makes changes, and takes them back both ways.
func roundTrip(t failer, format, text string, s shape.Shape, ops []Op) {
	t.Helper()
	now := []byte(text)
	var undos []patch.Patch
	var changes []journal.Change
	for _, op := range ops {
		next, changed, err := do(format, now, &s, op)
		if err != nil || !changed {
			t.Fatalf("%v: %v %v in\n%s", op.Path, changed, err, now)
		}
		if _, again, err := do(format, next.text, &s, op); err != nil || again {
			t.Fatalf("%v: a second time: %v %v in\n%s", op.Path, again, err, next.text)
		}
		now = next.text
		undos, changes = append(undos, next.undo), append(changes, next.change)
	}
	kept, err := json.Marshal([]any{undos, changes})
	if err != nil || bytes.Contains(kept, []byte("hush")) {
		t.Fatalf("%v: a credential is kept: %s", err, kept)
	}
	back := now
	for _, u := range slices.Backward(undos) {
		if back, err = u.Undo(back); err != nil {
			t.Fatalf("%v", err)
		}
	}
	if string(back) != text {
		t.Fatalf("by its bytes:\n%s", cmp.Diff(text, string(back)))
	}
	back = now
	for _, c := range slices.Backward(changes) {
		if back, err = undo(format, back, &s, c); err != nil {
			t.Fatalf("%v: %v in\n%s", c.Path, err, back)
		}
	}
	if diff := cmp.Diff(meaning(t, format, []byte(text)), meaning(t, format, back)); diff != "" {
		t.Fatalf("by its structure:\n%s\n%s", diff, back)
	}
}

// meaning is what a text says, without empty tables that cannot be told from none.
func meaning(t failer, format string, text []byte) any {
	t.Helper()
	if format == TOML {
		d, err := tomledit.Parse(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		v, _ := d.Value()
		return v
	}
	d, err := jsonedit.Parse(text)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var v any
	if err := d.Root().Decode(&v); err != nil {
		t.Fatalf("%v", err)
	}
	return v
}

func TestAnyJSONComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, names := newWriter(t).file()
		roundTrip(t, JSON, text, keyedShape, opsFor(names))
	})
}

// tomlServer writes a server in one of TOML's ways.
func (w *writer) tomlServer(name string) string {
	quote := func() string { return w.pick(`"x y"`, `'x\y'`, `"a\"b"`, `"ü"`, `"--"`, "'-y'") }
	remark := func() string { return w.pick("", "", " # so") }
	var keys [][2]string
	if rapid.Bool().Draw(w.T, "remote") {
		keys = append(keys, [2]string{"url", w.pick(`"https://h/?k=hush"`, `'https://h/?k=hush'`)})
		if rapid.Bool().Draw(w.T, "headers") {
			keys = append(keys, [2]string{"http_headers", `{ "A-b" = ` + w.pick(`"hush"`, `'hush'`, `"hush\"x"`) + ", C = 'hush' }"})
		}
	} else {
		keys = append(keys, [2]string{"command", quote()})
		switch rapid.IntRange(0, 3).Draw(w.T, "args") {
		case 1:
			keys = append(keys, [2]string{"args", w.pick("[]", "[ ]")})
		case 2:
			keys = append(keys, [2]string{"args", "[" + quote() + ", " + quote() + w.pick("", ",", " ") + "]"})
		case 3:
			keys = append(keys, [2]string{"args", "[" + w.newline + w.unit + quote() + "," + w.pick("", " # yes") + w.newline + w.unit + quote() + w.pick("", ",") + w.newline + "]"})
		}
		keys = append(keys, [2]string{"env", `{ K = "hush" }`})
	}
	keys = rapid.Permutation(append(keys, [2]string{"timeout", w.pick("1_0", "0x1F", "1.50")})).Draw(w.T, "order")
	var b strings.Builder
	if w.pick("table", "inline") == "inline" {
		b.WriteString("[mcp_servers]" + w.newline + name + " = { ")
		for i, k := range keys {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(k[0] + " = " + strings.ReplaceAll(strings.ReplaceAll(k[1], w.newline, " "), "# yes", ""))
		}
		return b.String() + " }" + remark() + w.newline
	}
	b.WriteString(w.pick("[mcp_servers."+name+"]", "[ mcp_servers . "+name+" ]") + remark() + w.newline)
	for _, k := range keys {
		b.WriteString(w.pick("", w.unit) + k[0] + w.pick(" = ", "=", "   = ") + k[1] + remark() + w.newline)
	}
	return b.String()
}

func TestAnyTOMLComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWriter(t)
		text := w.pick("", "# mine"+w.newline+"model = 'x'"+w.newline) + w.tomlServer("one") + w.pick("", w.newline+"[tui]"+w.newline+"a = 1"+w.newline)
		if w.pick("", "cut") == "cut" {
			text = strings.TrimSuffix(text, w.newline)
		}
		roundTrip(t, TOML, text, tableShape, []Op{{Kind: journal.Wrap, Path: []string{"mcp_servers", "one"}, Server: "one", Wrap: shape.Wrap{Proxy: "/b/bir-proxy", Name: "one"}}})
	})
}

// seeds are real files of clients.
func seeds(f *testing.F, ext ...string) {
	f.Helper()
	err := filepath.WalkDir("clients/testdata", func(path string, e os.DirEntry, err error) error {
		if err == nil && slices.Contains(ext, filepath.Ext(path)) {
			var text []byte
			text, err = os.ReadFile(path)
			f.Add(text)
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
}

// FuzzJSON holds for any bytes: either they are refused, or what is changed comes back.
func FuzzJSON(f *testing.F) {
	seeds(f, ".json")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzOne(t, JSON, text, keyedShape) })
}

// FuzzTOML does the same for TOML.
func FuzzTOML(f *testing.F) {
	seeds(f, ".toml")
	f.Fuzz(func(t *testing.T, text []byte) { fuzzOne(t, TOML, text, tableShape) })
}

func fuzzOne(t *testing.T, format string, text []byte, s shape.Shape) {
	names, err := namesIn(text, format, s.Servers)
	if err != nil {
		return
	}
	for _, name := range names {
		op := Op{Kind: journal.Wrap, Path: append(slices.Clone(s.Servers), name), Server: name, Wrap: shape.Wrap{Proxy: "/b/bir-proxy", Name: name}}
		if e, err := entry(format, text, op.Path); err != nil {
			continue
		} else if server, err := s.Read(e); err != nil || server.Wrapped() {
			continue
		}
		if _, _, err := do(format, text, &s, op); err == nil {
			undoOne(t, format, text, s, op)
		}
	}
}

// undoOne is roundTrip without a look at credentials, which a fuzzer cannot mark.
func undoOne(t *testing.T, format string, text []byte, s shape.Shape, op Op) {
	t.Helper()
	next, _, err := do(format, text, &s, op)
	if err != nil {
		t.Fatal(err)
	}
	e, err := entry(format, next.text, op.Path)
	if err != nil {
		t.Fatalf("%v in\n%s", err, next.text)
	}
	if server, err := s.Read(e); err != nil || !server.Wrapped() {
		t.Fatalf("it is not wrapped: %v in\n%s", err, next.text)
	}
	back, err := undo(format, next.text, &s, next.change)
	if err != nil {
		t.Fatalf("%v in\n%s", err, next.text)
	}
	if diff := cmp.Diff(meaning(t, format, text), meaning(t, format, back)); diff != "" {
		t.Fatalf("by its structure:\n%s\n%s", diff, back)
	}
}
