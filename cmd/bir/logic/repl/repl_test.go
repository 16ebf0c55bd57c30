package repl_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/cmd/bir/logic/repl"
	"github.com/bir-run/bir/engine/enginetest"
	"github.com/bir-run/bir/sandbox"
)

var pool *sandbox.Pool

func TestMain(m *testing.M) {
	os.Exit(enginetest.Run(m, func(p *sandbox.Pool) { pool = p }))
}

func session() *repl.Session {
	return repl.NewSession(pool, []sandbox.Arg{
		{Name: "params", Value: json.RawMessage(`{"region":"eu","regionCount":2,"list":[{"id":"a"}]}`)},
		{Name: "result", Value: json.RawMessage(`{"ok":true}`)},
	}, sandbox.World{})
}

// talk gives what is printed for lines of a pipe, and whether all went well.
func talk(t *testing.T, input string) (string, bool) {
	t.Helper()
	var out bytes.Buffer
	good, err := repl.Run(t.Context(), repl.Config{
		Session: session(), Lines: repl.Open(strings.NewReader(input), &out, nil, nil),
		Out:      &colorprofile.Writer{Forward: &out, Profile: colorprofile.NoTTY},
		Commands: map[string]string{".args": "the arguments\n"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), good
}

func TestInputsGiveWhatAPersonExpects(t *testing.T) {
	for _, tt := range []struct {
		name, input, want string
		good              bool
	}{
		{"a value", "params.region\n", "\"eu\"\n", true},
		{"an object is no block", "{a: 1, b: [2]};\n", "{\"a\":1,\"b\":[2]}\n", true},
		{"the last line needs no end", "1 + 1", "2\n", true},
		{"definitions stay", "let x = params.regionCount\nfunction f(a) { return a * 10 }\nf(x)\n", "x = 2\n[Function: f]\n20\n", true},
		{"the last definition of a name counts", "let x = 1\nx += 5\nx\nlet x = 3\nx\n", "x = 1\n6\n6\nx = 3\n3\n", true},
		{"a definition may hide a value", "const result = 7\nresult + 1\n", "result = 7\n8\n", true},
		{"names can be unpacked", "const {region, list: [first]} = params\nfirst.id + region\n", "undefined\n\"aeu\"\n", true},
		{"a change inside a value is gone", "let l = [1]\nl.push(2)\nl\n", "l = [1]\n2\n[1]\n", true},
		{"statements return", "for (const d of params.list) { if (d.id) return d.id }\n", "\"a\"\n", true},
		{"an open bracket goes on", "[\n  1, // ]\n  \"]\",\n  /]/.source,\n]\n`a\n}b`\n", "[1,\"]\",\"]\"]\n\"a\\n}b\"\n", true},
		{"what JSON cannot hold is shown as Node shows it", "undefined\nNaN\n({a: NaN})\n10n\n", "undefined\nNaN\n{ a: NaN }\n10n\n", true},
		{"promises are awaited", "await Promise.resolve(4)\nPromise.resolve([1])\n", "4\n[1]\n", true},
		{"the console comes first", "(console.log('seen', 1), 2)\n", "seen 1\n2\n", true},
		{"faults have their place in the input", "let y = 1\n[y,\n  nobody]\n", "y = 1\nthrow: ReferenceError: nobody is not defined (line 2, column 3)\n", false},
		{"what failed defines nothing", "let z = nobody\ntypeof z\n", "throw: ReferenceError: nobody is not defined (line 1, column 9)\n\"undefined\"\n", false},
		{"commands", ".args\n.nothing\nlet q = 1\n.defs\n.reset\n.defs\n.quit\nnot read", "the arguments\nno command .nothing: .help lists them\nq = 1\nlet q = 1\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, good := talk(t, tt.input)
			if diff := cmp.Diff(tt.want, got); diff != "" || good != tt.good {
				t.Errorf("good %v, want %v (-want +got):\n%s", good, tt.good, diff)
			}
		})
	}
}

func TestAnswersAreLinesOfJSON(t *testing.T) {
	var out bytes.Buffer
	_, err := repl.Run(t.Context(), repl.Config{
		Session: session(), JSON: true, Out: &out,
		Lines: repl.Open(strings.NewReader("let a = 1\nnull\nundefined\n(\n"), &out, nil, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"input":"let a = 1","defined":"a","value":1,"console":[]}`,
		`{"input":"null","value":null,"console":[]}`,
		`{"input":"undefined","text":"undefined","console":[]}`,
	}
	lines := strings.Split(out.String(), "\n")
	if diff := cmp.Diff(want, lines[:min(3, len(lines))]); diff != "" || len(lines) != 5 || !strings.Contains(lines[3], `"type":"syntax"`) {
		t.Errorf("(-want +got):\n%s\n%q", diff, lines)
	}
}

func TestEndOfContextEndsAWaitForInput(t *testing.T) {
	in, write := io.Pipe()
	defer write.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends when the line is read
		_, _ = io.WriteString(write, "1\n")
		cancel()
	}()
	if good, err := repl.Run(ctx, repl.Config{Session: session(), Lines: repl.Open(in, io.Discard, nil, nil), Out: io.Discard}); err != nil || !good {
		t.Errorf("good %v, error %v", good, err)
	}
}

func TestCompletionKnowsNamesAndKeys(t *testing.T) {
	s := session()
	if _, err := s.Eval(t.Context(), "let riskiest = 1"); err != nil {
		t.Fatal(err)
	}
	for typed, want := range map[string]string{
		"pa":                     "rams",
		"1 + risk":               "iest",
		"params.reg":             "ion",
		"params.regionC":         "ount",
		"f(params.list[0].":      "id",
		"params.list.":           "",
		"nobody.":                "",
		"JSON.p":                 "",
		"'":                      "",
		"params.list[0].id.more": "",
	} {
		if got := s.Complete(typed); got != want {
			t.Errorf("Complete(%q) = %q, want %q", typed, got, want)
		}
	}
}

func TestHistoryOutlivesItsSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "history")
	h := repl.OpenHistory(path)
	for _, line := range []string{"one", "one", " ", "two"} {
		h.Add(line)
	}
	if err := h.Save(); err != nil {
		t.Fatal(err)
	}
	again := repl.OpenHistory(path)
	if again.Len() != 2 || again.At(0) != "two" || again.At(1) != "one" {
		t.Errorf("%d lines, the newest %q", again.Len(), again.At(0))
	}
}
