package pinguard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guards/pinguard"
	"github.com/bir-run/bir/sandbox/guards/pinguard/command"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

func request(server, tool, model, step string) guardsdk.Request {
	return guardsdk.Request{ABI: guardsdk.ABI, Kind: guardsdk.KindPin, Server: server, Tool: tool,
		ModelArgs: json.RawMessage(model), Args: json.RawMessage(step)}
}

func TestDenialNamesItsRule(t *testing.T) {
	for name, c := range map[string]struct{ server, tool, model, step, code, says string }{
		"another program":    {"", "Bash", `{"command":"ls"}`, `{"command":"git push"}`, command.CodeProgram, "`git push`"},
		"another chaining":   {"", "Bash", `{"command":"ls && pwd"}`, `{"command":"ls || pwd"}`, command.CodeChaining, "`||`"},
		"another target":     {"", "Bash", `{"command":"ls > a"}`, `{"command":"ls > b"}`, command.CodeRedirect, "redirection"},
		"a forcing option":   {"", "Bash", `{"command":"git push"}`, `{"command":"git push -f"}`, command.CodeEffect, "`-f`"},
		"other words":        {"", "Bash", `{"command":"rm a"}`, `{"command":"rm b"}`, command.CodeWords, "every word counts"},
		"another host":       {"", "Bash", `{"command":"curl https://a"}`, `{"command":"curl https://b"}`, command.CodePlace, "host"},
		"another variable":   {"", "Bash", `{"command":"A=1 make"}`, `{"command":"A=2 make"}`, command.CodeAssignment, "variable"},
		"a substitution":     {"", "Bash", `{"command":"echo a"}`, `{"command":"echo $(id)"}`, command.CodeExact, "exact copy"},
		"another setting":    {"", "Bash", `{"command":"ls"}`, `{"command":"ls","run_in_background":true}`, pinguard.CodeSetting, `"run_in_background"`},
		"another file":       {"", "Write", `{"file_path":"/a"}`, `{"file_path":"/b"}`, pinguard.CodeFile, `"file_path"`},
		"another statement":  {"db", "query", `{"sql":"select 1"}`, `{"sql":"drop table x"}`, pinguard.CodeStatement, "DROP x"},
		"another place":      {"web", "open", `{"url":"https://a"}`, `{"url":"https://b"}`, pinguard.CodePlace, `"url"`},
		"nothing in common":  {"web", "click", `{"uid":"a"}`, `{"uid":"b"}`, pinguard.CodeNothing, "in common"},
		"another thing gone": {"org", "delete_user", `{"id":1}`, `{"id":2}`, pinguard.CodeTarget, `"id"`},
		"no object":          {"org", "x", `[]`, `{}`, pinguard.CodeUnreadable, "object"},
		"no JSON":            {"org", "x", `{}`, `{`, pinguard.CodeUnreadable, "object"},
	} {
		t.Run(name, func(t *testing.T) {
			v := pinguard.Check(request(c.server, c.tool, c.model, c.step))
			if v.Allow || v.Code != c.code || !strings.Contains(v.Reason, c.says) {
				t.Errorf("got %+v, want %s with %q", v, c.code, c.says)
			}
			if c.code != pinguard.CodeUnreadable && !strings.Contains(v.Reason, "accepted is") {
				t.Errorf("%q does not say what would have been accepted", v.Reason)
			}
		})
	}
}

func TestReasonHoldsNoArgument(t *testing.T) {
	for _, c := range [][2]string{
		{`{"command":"curl -H secret-token https://a"}`, `{"command":"curl -H secret-token2 https://secret-host"}`},
		{`{"command":"SECRET_NAME=secret-token ls"}`, `{"command":"ls"}`},
		{`{"command":"rm secret-token"}`, `{"command":"rm b"}`},
		{`{"command":"ls > secret-token"}`, `{"command":"ls"}`},
		{`{"command":"python -c 'secret-token secret-token secret-token secret-token secret-token'"}`, `{"command":"python -c 1"}`},
	} {
		v := pinguard.Check(request("", "Bash", c[0], c[1]))
		if v.Allow || strings.Contains(v.Reason, "secret") {
			t.Errorf("%s: %+v", c[0], v)
		}
	}
}

func TestLinesTooLongOrTooDeepAreOnlyThemselves(t *testing.T) {
	long := strings.Repeat("ls; ", 20<<10)
	deep := strings.Repeat("bash -c \\\"", 1) + strings.Repeat("eval ", 50) + "ls\\\""
	for _, line := range []string{long, strings.Repeat("(", 2000) + "ls" + strings.Repeat(")", 2000), deep} {
		step := `{"command":"` + line + `"}`
		if v := pinguard.Check(request("", "Bash", step, step)); !v.Allow {
			t.Errorf("an exact copy is refused: %+v", v)
		}
		if v := pinguard.Check(request("", "Bash", `{"command":"ls"}`, step)); v.Allow {
			t.Errorf("%.40s passes for ls", line)
		}
	}
}

// Whatever the arguments: an answer, the same one each time, and a call is itself.
func FuzzCheck(f *testing.F) {
	f.Add("", "Bash", `{"command":"git push"}`, `{"command":"npm run x && ls | xargs cat > y"}`)
	f.Add("", "Bash", `{"command":"for i in a; do bash -c 'ls'; done"}`, `{"command":"sudo -u x env A=b timeout 5 python -m pytest"}`)
	f.Add("", "PowerShell", `{"command":"Get-ChildItem 'a' | Select-Object b 2>$null"}`, `{"command":"rm a; ls"}`)
	f.Add("db", "run_query", `{"sql":"with x as (select 1) delete from t"}`, `{"sql":"select 'a' -- b\n; drop table c"}`)
	f.Add("fs", "write_file", `{"path":"C:\\a\\..\\b"}`, `{"path":"/a/../b","content":["https://x"]}`)
	f.Add("web", "open", `{"url":"https://a@b/c","n":12345678901234567890}`, `{"url":"HTTPS://A","n":1.50}`)
	f.Fuzz(func(t *testing.T, server, tool, model, step string) {
		req := request(server, tool, model, step)
		first := pinguard.Check(req)
		if again := pinguard.Check(req); again != first {
			t.Fatalf("two answers: %+v and %+v", first, again)
		}
		if first.Allow == (first.Code != "") {
			t.Fatalf("verdict and code disagree: %+v", first)
		}
		for _, args := range []string{model, step} {
			v := pinguard.Check(request(server, tool, args, args))
			if !v.Allow && v.Code != pinguard.CodeUnreadable {
				t.Fatalf("%s %s is not itself: %+v", tool, args, v)
			}
		}
	})
}

func TestToolsAreToldByTheWordsOfTheirNames(t *testing.T) {
	for _, name := range []string{"run_sql", "runSQL", "RunSql", "run-sql", "SQLRun", "executeQuery", "mcp__db__run_sql", "mysqlquery"} {
		v := pinguard.Check(request("srv", name, `{"sql":"select 1"}`, `{"sql":"drop table x"}`))
		if v.Code != pinguard.CodeStatement {
			t.Errorf("%s is not taken for a tool that runs statements: %+v", name, v)
		}
	}
	for _, name := range []string{"path", "filePath", "file_path", "FilePath", "target-file", "URL", "baseUrl", "dbHost"} {
		v := pinguard.Check(request("srv", "get_thing", `{"x":"same","`+name+`":"a"}`, `{"x":"same","`+name+`":"b"}`))
		if v.Code != pinguard.CodePlace {
			t.Errorf("%s is not taken for a place: %+v", name, v)
		}
	}
}
