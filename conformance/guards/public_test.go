package guards_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sqllexer "github.com/DataDog/go-sqllexer"
	"mvdan.cc/sh/v3/syntax"

	"github.com/bir-run/bir/sandbox/guards/injectionguard"
	"github.com/bir-run/bir/sandbox/guards/pinguard"
)

// publicLines reads the public injection lists where they are; they are no part of
// the project. Their lines are not labelled: whether one is an injection depends on
// where it stands, so each test judges what passed by a rule of its own.
func publicLines(t *testing.T, patterns ...string) (lines []string) {
	t.Helper()
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(publicFolder(t), pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no list fits %s (%v)", pattern, err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(data) {
				if text := strings.TrimRight(string(line), "\r\n"); strings.TrimSpace(text) != "" {
					lines = append(lines, text)
				}
			}
		}
	}
	return lines
}

func publicFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		folder := filepath.Join(dir, "shared", "corpora", "injection")
		if _, err := os.Stat(folder); err == nil {
			return folder
		}
	}
	t.Skip("the public injection lists are not on this machine")
	return ""
}

// forms are samples, and what a value that passes in their place must look like.
var forms = []struct{ name, sample, form string }{
	{"bare name", "eu-west", `^[\p{L}\p{M}\p{N}_.][\p{L}\p{M}\p{N}_.-]*$`},
	{"number", "42", `^[0-9]+(\.[0-9]+)?([eE][+]?[0-9]+)?$`},
	{"prose", "two words, here", `^[\p{L}\p{M}\p{N}_., -]*$`},
	{"path", "/data/eu-west/x.json", `^/[\p{L}\p{N}_.-]+/[\p{L}\p{N}_.-]+/[\p{L}\p{N}_.-]+$`},
	{"URL", "https://fleet.internal/eu", `^(?i)https://fleet\.internal(/[\p{L}\p{N}_.-]+)*$`},
	{"e-mail", "a@example.org", `^[\p{L}\p{N}_.%+-]+@[\p{L}\p{N}.-]+$`},
	{"date", "2026-11-30", `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`},
}

func TestPublicListsPassOnlyAsWhatTheSampleIs(t *testing.T) {
	lines := publicLines(t, "patt-*.txt", "libinjection-sqli-*.txt")
	word := regexp.MustCompile(`(^|\s)-`)
	for _, f := range forms {
		form := regexp.MustCompile(f.form)
		passed := 0
		for _, line := range lines {
			if !injectionguard.Check(value(string(quote(line)), string(quote(f.sample)), "runs")).Allow {
				continue
			}
			passed++
			if !form.MatchString(line) || word.MatchString(line) {
				t.Errorf("%q passes as a %s", line, f.name)
			}
		}
		t.Logf("of %d lines %d pass as a %s", len(lines), passed, f.name)
	}
}

// A line inside a command: what passes for the harmless command is one command with
// nothing that the shell would expand.
func TestPublicCommandsInACommandAreSeen(t *testing.T) {
	lines := publicLines(t, "patt-cmd-*.txt")
	for _, template := range []string{"cat /data/%/x", "cat \"/data/%/x\"", "cat '/data/%/x'", "grep -r % ."} {
		passed := 0
		for _, line := range lines {
			step := strings.Replace(template, "%", line, 1)
			p := pinPair{Tool: "Bash", Model: object("command", strings.Replace(template, "%", "eu", 1)), Step: object("command", step)}
			if !pinguard.Check(p.request()).Allow {
				continue
			}
			passed++
			if why := notPlain(step); why != "" {
				t.Errorf("%q passes and has %s", step, why)
			}
		}
		t.Logf("of %d lines %d pass in %s", len(lines), passed, template)
	}
}

func notPlain(line string) (why string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(file.Stmts) != 1 {
		return "not one command"
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryCmd, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.Subshell, *syntax.FuncDecl:
			why = "more than one command"
		case *syntax.Redirect:
			if n.Word.Lit() != "/dev/null" && n.Op != syntax.DplOut {
				why = "a redirection"
			}
		case *syntax.Stmt:
			if n.Background || n.Negated {
				why = "another command"
			}
		}
		return true
	})
	return why
}

// A line inside a query: what passes for the harmless query reads, and is one
// statement.
func TestPublicStatementsInAQueryAreSeen(t *testing.T) {
	lines := publicLines(t, "patt-sql-*.txt", "libinjection-sqli-*.txt")
	for _, template := range []string{"select a from t where b = %", "select a from t where b = '%'"} {
		passed := 0
		for _, line := range lines {
			step := strings.Replace(template, "%", line, 1)
			p := pinPair{Tool: "run_query", Model: object("sql", strings.Replace(template, "%", "1", 1)), Step: object("sql", step)}
			if !pinguard.Check(p.request()).Allow {
				continue
			}
			passed++
			if why := notReading(step); why != "" {
				t.Errorf("%q passes and has %s", step, why)
			}
		}
		t.Logf("of %d lines %d pass in %s", len(lines), passed, template)
	}
}

var notReadingWords = regexp.MustCompile(`(?i)^(drop|delete|update|insert|union|into|exec|execute|alter|create|truncate|waitfor|benchmark|load_file|xp_cmdshell|pg_sleep|sleep)$`)

func notReading(query string) string {
	lexer := sqllexer.New(query)
	ended := false
	for {
		token := lexer.Scan()
		switch {
		case token.Type == sqllexer.EOF:
			return ""
		case token.Type == sqllexer.SPACE || token.Type == sqllexer.COMMENT || token.Type == sqllexer.MULTILINE_COMMENT:
		case ended && token.Value != ";":
			return "a second statement"
		case token.Value == ";":
			ended = true
		case token.Type != sqllexer.STRING && notReadingWords.MatchString(token.Value):
			return token.Value
		}
	}
}

// The harmless lines that naive filters flag pass where they are content.
func TestPublicHarmlessLinesPass(t *testing.T) {
	lines := publicLines(t, "libinjection-false_positives.txt")
	var s score
	for _, line := range lines {
		for _, risk := range []string{"writes", "none"} {
			v := injectionguard.Check(value(string(quote(line)), `"words, as people write them"`, risk))
			if !s.count("a sentence, "+risk, v.Allow, true) {
				t.Logf("%q: %s", line, v.Reason)
			}
		}
		p := pinPair{Tool: "Write", Model: object("file_path", "/a"), Step: []byte(`{"file_path":"/a","content":` + string(quote(line)) + `}`)}
		s.count("what is written", pinguard.Check(p.request()).Allow, true)
		escaped := strings.ReplaceAll(line, "'", "'\"'\"'")
		p = pinPair{Tool: "Bash", Model: object("command", "echo 'x'"), Step: object("command", "echo '"+escaped+"'")}
		if v := pinguard.Check(p.request()); !s.count("an argument of echo", v.Allow, true) {
			t.Logf("%q: %s", line, v.Reason)
		}
	}
	s.report(t)
}
