package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bir-run/bir/control/client/locate"
)

func TestFlagsSayWhatToServe(t *testing.T) {
	dir := t.TempDir()
	root := locate.Root(dir)
	for name, c := range map[string]struct {
		args []string
		want flags
	}{
		"serve":            {[]string{"--root", dir}, flags{root: root}},
		"a folder below":   {[]string{"--root", filepath.Join(dir, ".")}, flags{root: root}},
		"detach":           {[]string{"--root", dir, "--detach"}, flags{root: root, detach: true}},
		"replace":          {[]string{"-replace", "-root=" + dir}, flags{root: root, replace: true}},
		"the other way on": {[]string{"--detach", "--root", dir, "--replace"}, flags{root: root, detach: true, replace: true}},
	} {
		if got, err := parseFlags(c.args); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestWrongFlagsAreExplained(t *testing.T) {
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{nil, exitUsage, "--root is needed"},
		{[]string{"--root", "."}, exitOK, ""},
		{[]string{"--root", ".", "serve"}, exitUsage, `unexpected argument "serve"`},
		{[]string{"--no-such"}, exitUsage, "no-such"},
		{[]string{"--help"}, exitOK, "Exit codes"},
		{[]string{"--version"}, exitOK, "bir-control " + version},
	} {
		var out, errOut bytes.Buffer
		status := exitOK
		if _, err := parseFlags(c.args); err != nil {
			status = explain(err, &out, &errOut)
		}
		said := out.String() + errOut.String()
		if status != c.status || !strings.Contains(said, c.says) || (status == exitUsage) != strings.Contains(said, "hint:") {
			t.Errorf("%v: status %d: %s", c.args, status, said)
		}
	}
}

func TestRootIsTheMainWorkingTree(t *testing.T) {
	dir := t.TempDir()
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := parseFlags([]string{"--root", below}); err != nil || got.root != locate.Root(dir) {
		t.Errorf("%+v, %v", got, err)
	}
}
