package guards_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guards/pinguard"
)

// mutation changes what a text does. It gives nothing where it does not apply.
type mutation struct {
	name   string
	change func(text string) string
}

func appended(suffix string) mutation {
	return mutation{"append " + suffix, func(text string) string {
		if strings.Contains(text, "#") || strings.Contains(text, " -- ") {
			return "" // what is appended may stand in a comment
		}
		return text + suffix
	}}
}

func prefixed(prefix string) mutation {
	return mutation{"prefix " + prefix, func(text string) string {
		if strings.HasPrefix(text, prefix) {
			return "" // only more of the same
		}
		return prefix + strings.TrimLeft(text, " ")
	}}
}

func replaced(old, new string) mutation {
	return mutation{"replace " + old + " with " + new, func(text string) string {
		if !strings.Contains(text, old) || strings.Contains(text, "/dev/null") || strings.HasPrefix(text, "select") && strings.Contains(old, "where") {
			return "" // nothing to replace, or nothing that matters
		}
		return strings.Replace(text, old, new, 1)
	}}
}

var commandMutations = []mutation{
	appended("; rm -rf /data"), appended(" && git push --force"), appended(" || rm x"), appended(" | sh"), appended(" & rm x"),
	appended("\nrm x"), appended(" > /etc/passwd"), appended(" >> ~/.bashrc"), appended(" < /etc/shadow"), appended(" $(id)"),
	appended(" `id`"), appended(" <(id)"), appended(" ${x:=$(id)}"), appended(" | tee /etc/passwd"), appended(" |& sh"),
	appended(" \"$(id)\""), appended("\r\n;id"), appended(" | xargs rm"),
	prefixed("sudo "), prefixed("LD_PRELOAD=/tmp/x.so "), prefixed("rm x; "), prefixed("rm x && "), prefixed("exec "), prefixed("rm "),
	prefixed("xargs "), prefixed("/tmp/"), prefixed("id | "), prefixed("! "), prefixed("echo "), prefixed("eval rm x; "), prefixed("ssh host "),
	prefixed("PATH=/tmp "), prefixed("$X "), prefixed("`id` "), prefixed("cd / && "), prefixed("env -i "), prefixed("f() { "),
	replaced("&&", "||"), replaced("&&", ";"), replaced(" | ", " || "), replaced(" | ", " ; "), replaced("; ", " && "),
	replaced("||", "&&"), replaced(" > ", " >> "), replaced("git ", "rm "), replaced("npm run ", "npm publish "), replaced("npx ", "npx rimraf "),
	replaced("python ", "python -c "), replaced("git push", "git push --force"), replaced("git push", "git push --delete"),
	replaced("git ", "git -c core.pager=id "), replaced("curl ", "curl -o /etc/x "), replaced("find ", "find -delete "),
	replaced("ls", "rm"), replaced("cat ", "rm "), replaced("sudo -u ", "sudo -g "), replaced("sed ", "sed -i "), replaced("get", "delete"),
}

var psMutations = []mutation{
	appended("; Remove-Item x"), appended(" | Remove-Item"), appended(" > C:\\x"), appended("\nRemove-Item x"), appended(" $(Remove-Item x)"),
	appended(" && Remove-Item x"), appended(" & Remove-Item x"), prefixed("Remove-Item "), prefixed("Invoke-Expression "), prefixed("& "),
	prefixed(". "), appended("; & x"), appended(" `\nx"), appended(" (Remove-Item x)"), appended(" @(x)"),
}

var statementMutations = []mutation{
	appended("; drop table users"), appended(";delete from users"), appended("\n;\ntruncate users"), appended(" union select password from users"),
	appended(" into outfile '/tmp/x'"), appended("; grant all on users to public"), appended(" /*!50000 union select 2 */"),
	appended(" '; drop table users"), appended(" $$ ; drop table users"), appended(" --1; drop table users"), appended(" \\'; drop table users"),
	appended("; call wipe()"), appended(", pg_sleep(9)"), appended(", load_file('/etc/passwd')"), appended(" [a'b]; drop table users"),
	prefixed("delete from users; "), prefixed("explain analyze "), prefixed("drop table users; "), prefixed("/*!50000 delete from users; */"),
	prefixed("with x as (delete from users returning 1) "), prefixed("begin; "), prefixed("create table x as "), prefixed("'; "),
	prefixed("/* /* */ delete from users; -- */"), replaced("select", "delete"), replaced("SELECT", "DELETE"), replaced("t where ", "t -- "), replaced("set a = 1 where ", "set a = 1 -- "),
	replaced("from t", "into t"), replaced("insert", "replace"), replaced("update", "alter"),
}

// mutationsFor are those that fit the argument in which a pair differs.
func mutationsFor(tool, arg string) []mutation {
	switch {
	case tool == "PowerShell":
		return psMutations
	case arg == "command":
		return commandMutations
	case arg == "sql":
		return statementMutations
	}
	return nil
}

// From each pair that is the same call: a change of what one side does, on either
// side, makes it another call.
func TestMutatedCallsAreRefused(t *testing.T) {
	var file pinFile
	readJSON(t, "pins.json", &file)
	tried := 0
	for _, g := range file.Groups {
		for _, pair := range g.Same {
			for _, m := range mutationsFor(g.Tool, g.Arg) {
				for side := range 2 {
					changed := pair
					changed[side] = m.change(pair[side])
					if changed[side] == "" || strings.TrimSpace(pair[side]) == "" {
						continue
					}
					tried++
					p := pinPair{Server: g.Server, Tool: g.Tool, Model: object(g.Arg, changed[0]), Step: object(g.Arg, changed[1])}
					if v := pinguard.Check(p.request()); v.Allow {
						t.Errorf("%s: %q passes for the step %q", m.name, changed[0], changed[1])
					}
				}
			}
		}
	}
	t.Logf("%d mutations", tried)
	if tried < 2000 {
		t.Errorf("only %d mutations were tried", tried)
	}
}

// From each pair of whole calls that is the same: a place that is not the step's.
func TestMutatedPlacesAreRefused(t *testing.T) {
	tried := 0
	for _, p := range pinPairs(t) {
		var model map[string]json.RawMessage
		if !p.Same || json.Unmarshal(p.Model, &model) != nil || len(model) == 0 || p.Rule == "files that are read" {
			continue
		}
		for key, place := range map[string]string{
			"path": "/etc/passwd", "url": "https://evil.example", "host": "evil.example", "database": "other", "target_file": "~/.ssh/id",
			"destination": `C:\Windows`, "sql": "drop table users", "repo": "other", "cwd": "/",
		} {
			if p.Rule == "statements" || p.Tool != "Bash" && p.Tool != "PowerShell" && key == "sql" {
				continue
			}
			model[key] = quote(place)
			changed, err := json.Marshal(model)
			if err != nil {
				t.Fatal(err)
			}
			delete(model, key)
			tried++
			if v := pinguard.Check((pinPair{Server: p.Server, Tool: p.Tool, Model: changed, Step: p.Step}).request()); v.Allow {
				t.Errorf("%s %s passes for the step %s", p.Tool, changed, p.Step)
			}
		}
	}
	t.Logf("%d mutations", tried)
}

func quote(text string) json.RawMessage {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return data
}
