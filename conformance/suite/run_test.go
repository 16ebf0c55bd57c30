//go:build unix

package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bir-run/bir/conformance/wire"
)

const (
	legacy = "conformance-legacy" // 0.1.16, for the revisions that have a handshake
	modern = "conformance-modern" // 0.2.0-alpha.12, which knows 2026-07-28
)

func TestMain(m *testing.M) {
	if os.Getenv(clientVar) != "" {
		os.Exit(runClient(os.Args[len(os.Args)-1]))
	}
	os.Exit(wire.Run(m))
}

// results are the statuses of each check: a check may be made several times.
type results map[string][]string

// run runs a suite's command and reads what it found.
func run(t *testing.T, suite string, environ []string, args ...string) results {
	t.Helper()
	out := t.TempDir()
	path := script(t, suite)
	cmd := exec.Command("node", append(append(shim(t), path), append(args, "-o", out)...)...)
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), environ...) // or each client would take a second more
	text, err := cmd.CombinedOutput()                                              // which ends with 1 when a check failed
	found := read(t, out)
	if len(found) == 0 {
		t.Fatalf("the suite found nothing: %v\n%s", err, text)
	}
	return found
}

// script is the suite's program.
func script(t *testing.T, suite string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node here")
	}
	path := filepath.Join("..", "npm", "node_modules", suite, "dist", "index.js")
	if _, err := os.Stat(path); err != nil {
		t.Skip("the suite is not installed: run make npm")
	}
	return path
}

// nodeVersion is asked for once.
var nodeVersion = sync.OnceValues(exec.Command("node", "--version").Output)

// shim is what an older Node needs to load the suite.
func shim(t *testing.T) []string {
	t.Helper()
	version, err := nodeVersion()
	if err != nil {
		t.Fatal(err)
	}
	var major int
	if _, err := fmt.Sscanf(string(version), "v%d", &major); err != nil || major >= 22 {
		return nil
	}
	return []string{"--import", "./node20.mjs"}
}

// dated is the end of a result folder's name.
var dated = regexp.MustCompile(`-20\d\d-\d\d-\d\dT.*$`)

func read(t *testing.T, dir string) results {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	nested, _ := filepath.Glob(filepath.Join(dir, "*", "*", "checks.json"))
	all := results{}
	for _, path := range append(paths, nested...) {
		folder, _ := filepath.Rel(dir, filepath.Dir(path))
		scenario := dated.ReplaceAllString(filepath.ToSlash(folder), "")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status string }
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&checks); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, c := range checks {
			id := scenario + " " + c.ID
			all[id] = append(all[id], c.Status)
		}
	}
	return all
}

// same holds that every check ended the same, but for the exceptions.
func same(t *testing.T, direct, through results) {
	t.Helper()
	ids := map[string]bool{}
	for id := range direct {
		ids[id] = true
	}
	for id := range through {
		ids[id] = true
	}
	failed := 0
	for id := range ids {
		a, b := direct[id], through[id]
		if slices.Contains(a, "FAILURE") {
			failed++
		}
		reason, excepted := exceptions[id]
		switch {
		case slices.Equal(worst(a), worst(b)):
		case excepted && !slices.Contains(b, "FAILURE"):
			t.Logf("%s: %s through bir, not %s: %s", id, b, a, reason)
		default:
			t.Errorf("%s: %s through bir, not %s", id, b, a)
		}
	}
	t.Logf("%d checks; %d fail without bir, too", len(ids), failed)
}

// worst reduces what a check that was made several times found: how often depends on
// the number of requests that the suite happened to see.
func worst(statuses []string) []string {
	order := strings.Fields("FAILURE WARNING SUCCESS SKIPPED INFO")
	for _, s := range order {
		if slices.Contains(statuses, s) {
			return []string{s}
		}
	}
	return statuses
}
