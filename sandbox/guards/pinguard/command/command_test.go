package command_test

import (
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guards/pinguard/command"
)

// Lines of one group are one call, and no line of another group is.
var groups = [][]string{
	{"git push", "/usr/bin/git push", "'git' push", `g\it push`, "command git push", "time git push", "timeout 5 git push", "nohup git push",
		"timeout -k 1 --signal=TERM 5 git push", "nice -n 5 git push", "env git push", "bash -c 'git push'", `sh -c "git push"`, "eval git push",
		"bash -lc 'timeout 3 git push'", "git push 2>&1", "git push >/dev/null", "git push;", "git push # now", "\n git push \n"},
	{"git pull", "time git pull"},
	{"sudo git push", "sudo timeout 5 git push"},
	{"sudo -u a git push", "sudo -u a -- git push"},
	{"A=b git push", "env A=b git push", "A=b timeout 5 git push", "env A=b bash -c 'git push'"},
	{"./git push", "././git push", "./x/../git push"},
	{"npm run lint", "npm run --silent lint", "npm run lint -- --fix"},
	{"npm run build"},
	{"npx eslint .", "npx --yes eslint src", "npx -- eslint ."},
	{"python -m pytest", "python3 -m pytest tests", "python3.12 -m pytest"},
	{"python deploy.py", "/usr/bin/python3 ./deploy.py"},
	{"ls && pwd", "ls -a && pwd", "ls &&\npwd"},
	{"ls; pwd", "ls -a\npwd", "ls\n\n\npwd;"},
	{"ls | cat", "ls -a | cat -n"},
	{"ls > a", "ls > ./a", "ls -l >'a'"},
	{"ls >> a"},
	{"xargs cat", "xargs cat -n"},
	{"if ls; then pwd; fi", "if ls -a; then pwd -P; fi"},
	{"(ls)", "( ls -a )"},
	{"ls &", "ls -a &"},
	{"! ls", "! ls -a"},
}

func TestLinesOfOneGroupAreOneCall(t *testing.T) {
	for i, group := range groups {
		for j, other := range groups {
			for _, model := range group {
				for _, step := range other {
					d := command.Compare(model, step, command.Posix)
					if (d == nil) != (i == j) {
						t.Errorf("%q for the step %q: %+v", model, step, d)
					}
				}
			}
		}
	}
}

func TestPowerShellReadsAliasesAndQuotes(t *testing.T) {
	for _, same := range [][2]string{
		{"ls", "Get-ChildItem C:\\data"}, {"gc 'a b'", "GET-CONTENT \"it''s\""}, {"git status; git log", "git status\r\ngit log"},
		{"Get-Process 2>&1", "get-process"}, {"Get-Process | sort Id", "Get-Process | Sort-Object CPU"},
	} {
		if d := command.Compare(same[0], same[1], command.PowerShell); d != nil {
			t.Errorf("%q for the step %q: %+v", same[0], same[1], d)
		}
	}
	for _, line := range []string{
		"ls (rm a)", "ls $(rm a)", "ls `\nrm a", "& rm a", ". ./a.ps1", "ls @(a)", "ls {a}", "ls 'a", "git --% a", "[a]::b", "$a = 1", "ls <# a #>",
	} {
		if d := command.Compare("ls", line, command.PowerShell); d == nil || d.Code != command.CodeExact {
			t.Errorf("%q is read, and should be compared by its text: %+v", line, d)
		}
	}
}

func TestWhatCannotBeReadIsOnlyItself(t *testing.T) {
	for line, why := range map[string]string{
		"echo $(id)": "substitution", "echo `id`": "substitution", "cat <(id)": "substitution", "$X a": "program", "l? a": "program",
		"ls 'a": "no complete command", "f() { ls; }": "construct", "echo a | sh": "script", "bash -c \"$X\"": "script", "eval $X": "evaluates",
		"echo ${!x}": "expansion", "ls | xargs rm": "another command writes", "bash -c 'bash -c \"bash -c \\\"bash -c \\\\\\\"bash -c ls\\\\\\\"\\\"\"'": "",
	} {
		d := command.Compare("ls", line, command.Posix)
		if d == nil || why != "" && (d.Code != command.CodeExact || !strings.Contains(d.Words, why)) {
			t.Errorf("%q: %+v, want a denial for its %s", line, d, why)
		}
		if d := command.Compare(" "+line, line+"\n", command.Posix); d != nil {
			t.Errorf("%q is not itself: %+v", line, d)
		}
	}
}

// Whatever the lines: a line is itself, and each answer is the same one again.
func FuzzCompare(f *testing.F) {
	for _, group := range groups {
		f.Add(group[0], group[len(group)-1], false)
	}
	f.Add("Get-Content 'a' | Select-Object b 2>$null", "rm a; & b", true)
	f.Fuzz(func(t *testing.T, model, step string, powerShell bool) {
		lang := command.Posix
		if powerShell {
			lang = command.PowerShell
		}
		if d := command.Compare(step, step, lang); d != nil {
			t.Fatalf("%q is not itself: %+v", step, d)
		}
		d, again := command.Compare(model, step, lang), command.Compare(model, step, lang)
		switch {
		case (d == nil) != (again == nil) || d != nil && *d != *again:
			t.Fatalf("%q for the step %q: %+v and then %+v", model, step, d, again)
		case d != nil && (d.Code == "" || d.Words == ""):
			t.Fatalf("%q for the step %q: a difference without a reason", model, step)
		}
	})
}
