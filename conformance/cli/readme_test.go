package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bir-run/bir/conformance/built"
)

// readmeCommands are the lines of the README that a reader would type.
func readmeCommands(t *testing.T, root string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, m := range regexp.MustCompile(`(?m)^    ((?:bir|make|echo) [^#\n]+)`).FindAllStringSubmatch(string(text), -1) {
		commands = append(commands, strings.TrimSpace(m[1]))
	}
	for _, m := range regexp.MustCompile("`((?:bir|make) [^`…]+)`").FindAllStringSubmatch(string(text), -1) {
		commands = append(commands, m[1]+mentioned(m[1]))
	}
	return commands
}

// mentioned is what a command needs to run that prose only names: its help.
func mentioned(command string) string {
	if strings.HasPrefix(command, "bir ") && len(strings.Fields(command)) < 4 {
		return " --help"
	}
	return ""
}

// TestEveryCommandOfTheReadmeWorks types them in their order, after a job was
// recorded by the demonstration, with the ids that it left in place of the
// placeholders.
func TestEveryCommandOfTheReadmeWorks(t *testing.T) {
	root, err := built.Root()
	if err != nil {
		t.Fatal(err)
	}
	commands := readmeCommands(t, root)
	if len(commands) < 20 {
		t.Fatalf("only %d commands found in the README: %q", len(commands), commands)
	}
	r := newReader(t, root)
	for _, command := range commands {
		if tool, target, _ := strings.Cut(command, " "); tool == "make" {
			r.mustHaveTarget(target)
			continue
		}
		r.types(command)
	}
}

// reader is somebody who follows the README in a folder of their own.
type reader struct {
	t         *testing.T
	root, bin string
	dir, home string
	run, scn  string
}

func newReader(t *testing.T, root string) *reader {
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	demo := t.TempDir()
	r := &reader{t: t, root: root, bin: bin, dir: t.TempDir(), home: filepath.Join(demo, "home")}
	r.must("bir", "demo", "--dir", demo, "--npm", filepath.Join(root, "conformance", "npm"))
	t.Cleanup(func() { r.must("bir", "down", "--service") })
	t.Cleanup(func() { r.must("bir", "down", "--all") })
	// The guard that the demonstration left forbids the region that the README uses.
	if err := os.RemoveAll(filepath.Join(r.home, "guards")); err != nil {
		t.Fatal(err)
	}
	r.run = r.id("runs", "list", "run_")
	r.scn = r.id("scenario", "list", "scn_")
	r.writeNewBody()
	r.writeArguments()
	r.write("request.json", `{"kind": "value", "parameter": "region", "value": "ap-south", "sample": "eu-west"}`)
	module, err := os.ReadFile(filepath.Join(root, "sandbox/guards/examples/wat/deny-us-east.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	r.write("my-rule.wasm", string(module))
	return r
}

// writeArguments writes what the output body of step 2 was recorded with.
func (r *reader) writeArguments() {
	var run struct {
		Steps []struct{ Type, ToolOutput string }
	}
	if err := json.Unmarshal([]byte(r.must("bir", "runs", "show", r.run, "--json")), &run); err != nil {
		r.t.Fatal(err)
	}
	var outputs []string
	for _, s := range run.Steps {
		if s.Type == "tool_response" {
			outputs = append(outputs, s.ToolOutput)
		}
	}
	args, err := json.Marshal(map[string]any{"params": map[string]string{"region": "eu-west"}, "toolOutput": outputs[1]})
	if err != nil {
		r.t.Fatal(err)
	}
	r.write("args.json", string(args))
}

// writeNewBody writes a change of step 2 that passes the check.
func (r *reader) writeNewBody() {
	shown := r.must("bir", "scenario", "show", r.scn, "--step", "2", "--json")
	m := regexp.MustCompile(`"toolOutputLogic": ("(?:[^"\\]|\\.)*")`).FindStringSubmatch(shown)
	if m == nil {
		r.t.Fatalf("no output body in %s", shown)
	}
	var body string
	if err := json.Unmarshal([]byte(m[1]), &body); err != nil {
		r.t.Fatal(err)
	}
	r.write("new.js", "// the riskiest one\n"+body)
}

func (r *reader) id(group, verb, prefix string) string {
	for _, id := range ids.FindAllString(r.must("bir", group, verb), -1) {
		if strings.HasPrefix(id, prefix) {
			return id
		}
	}
	r.t.Fatalf("no %s id in bir %s %s", prefix, group, verb)
	return ""
}

func (r *reader) write(name, text string) {
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

// types runs one line as a shell would, and wants it to end well.
func (r *reader) types(command string) {
	line := regexp.MustCompile(`\bRUN\b`).ReplaceAllString(command, r.run)
	line = regexp.MustCompile(`\bSCENARIO\b`).ReplaceAllString(line, r.scn)
	// In a home of their own: what the reader installs goes there, too.
	if out, err := r.command("env", "HOME="+r.dir, "sh", "-c", line); err != nil {
		r.t.Errorf("%s: %v\n%s", command, err, out)
	}
}

func (r *reader) must(name string, args ...string) string {
	out, err := r.command(built.Path(r.bin, name), args...)
	if err != nil {
		r.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

func (r *reader) command(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "BIR_HOME="+r.home, "BIR_LOGIC_TIMEOUT_MS="+logicTimeout, "PATH="+r.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func (r *reader) mustHaveTarget(target string) {
	cmd := exec.Command("make", "-n", target)
	cmd.Dir = r.root
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Errorf("make %s: %v\n%s", target, err, out)
	}
}
