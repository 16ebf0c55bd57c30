package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
	"github.com/bir-run/bir/sandbox/lint"
)

// TestLintFindsNoErrorInBodiesThatRun lints the corpus that is compared with Node:
// what gives a value has nothing in it that must fail.
func TestLintFindsNoErrorInBodiesThatRun(t *testing.T) {
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	pool := sandbox.NewPool(sandbox.Config{Command: []string{built.Path(bin, "bir-sandbox")}, Timeout: 10 * time.Second})
	defer pool.Close()
	linted := 0
	corpus := compatCorpus(t)
	for out, err := range cases.Run(t.Context(), pool, corpus) {
		if err != nil {
			t.Fatal(err)
		}
		if out.Value == nil || caught[out.ID] || unseen[out.ID] {
			continue
		}
		subject := lint.Subject{Body: out.Case.Body}
		for _, arg := range out.Case.Args.Raw {
			subject.Params = append(subject.Params, arg.Name)
		}
		found, err := lint.Run(t.Context(), pool, subject)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if f.Level == lint.Error || f.Rule == "unread" {
				t.Errorf("%s: %+v\n%s", out.ID, f, out.Case.Body.Source)
			}
		}
		linted++
	}
	if linted < 300 {
		t.Errorf("only %d bodies linted: the corpus is not read", linted)
	}
}

// compatCorpus reads the snippets that are compared with Node.
func compatCorpus(t *testing.T) []cases.Case {
	t.Helper()
	files, err := filepath.Glob("../sandbox/testdata/compat/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []cases.Case
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var entries []struct {
			ID, Body string
			Args     json.RawMessage
		}
		if err := json.Unmarshal(text, &entries); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, e := range entries {
			args, err := cases.ParseArgs(sandbox.KindRaw, e.Args)
			if err != nil {
				t.Fatalf("%s: %v", e.ID, err)
			}
			all = append(all, cases.Case{ID: e.ID, Body: sandbox.Body{Kind: sandbox.KindRaw, Source: e.Body}, Args: args})
		}
	}
	return all
}

// unseen are bodies with an error that is none: code that is made at run time declares
// what the linter misses.
var unseen = map[string]bool{"made/eval-scope": true}

// caught are bodies that fail on purpose, inside a try.
var caught = map[string]bool{
	"errors/not-defined": true, "errors/not-defined-call": true, "errors/assign-const": true, "errors/assign-const-update": true,
	"math/powers-error-5": true,
}
