package cli

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/bir-run/bir/conformance/built"
)

var listed = regexp.MustCompile(`(?m)^  ([a-z]+) +\S`)

// TestEveryCommandHasHelpWithAnExample walks the tree of commands by their help.
func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	var walk func(path []string)
	walk = func(path []string) {
		out, err := exec.Command(built.Path(bin, "bir"), append(path, "--help")...).CombinedOutput()
		if err != nil {
			t.Fatalf("bir %v --help: %v\n%s", path, err, out)
		}
		help := string(out)
		_, rest, group := strings.Cut(help, "Available Commands:\n")
		if group {
			commands, _, _ := strings.Cut(rest, "\n\n")
			for _, m := range listed.FindAllStringSubmatch(commands, -1) {
				if m[1] != "help" && m[1] != "completion" {
					walk(append(append([]string{}, path...), m[1]))
				}
			}
		}
		if runs := strings.Contains(help, "Examples:\n  "); !runs && (!group || len(path) == 1 && path[0] == "demo") {
			t.Errorf("bir %s --help has no example", strings.Join(path, " "))
		}
		seen++
	}
	walk(nil)
	if seen < 20 {
		t.Errorf("only %d commands found: the walk is broken", seen)
	}
}

func TestProxyHasHelpWithAnExample(t *testing.T) {
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(built.Path(bin, "bir-proxy"), "--help").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Example") || !strings.Contains(string(out), "Exit codes") {
		t.Errorf("%v\n%s", err, out)
	}
}
