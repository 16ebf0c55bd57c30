package corpus

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/sandbox"
)

type attack struct {
	ID        string            `json:"id"`
	Body      string            `json:"body"`
	Args      orderedArgs       `json:"args"`
	Before    []string          `json:"before"`
	Expect    string            `json:"expect"`
	Accept    []string          `json:"accept"`
	Value     json.RawMessage   `json:"value"`
	Or        []json.RawMessage `json:"or"`
	ErrorName string            `json:"errorName"`
	Text      string            `json:"text"`
}

// mayTimeOut tells whether the end of its time is one of the right ends of an attack.
func (a attack) mayTimeOut() bool {
	return slices.Contains(append(a.Accept, a.Expect), string(sandbox.TypeTimeout))
}

// body has little time if that may be its end. Others have the pool's, so that a busy
// machine changes nothing.
func (a attack) body() sandbox.Body {
	body := Raw(a.Body)
	if a.mayTimeOut() {
		body.Timeout = 500 * time.Millisecond
	}
	return body
}

// prepare runs what comes before the attack. One of those never ends, and only what
// they leave behind counts.
func (a attack) prepare(t *testing.T, pool *sandbox.Pool) {
	for _, source := range a.Before {
		body := Raw(source)
		body.Timeout = 2 * time.Second
		_, _ = pool.Eval(t.Context(), body, sandbox.Args{Raw: a.Args})
	}
}

// PublicAttacks runs the public corpus, where it is present.
func (s Suite) PublicAttacks(t *testing.T) {
	attacks := readPublic[attack](t, "attacks-public.json")
	pool := s.Pool(t, sandbox.Config{Size: 1})
	for i, a := range attacks {
		if a.mayTimeOut() && s.passes(i) {
			continue
		}
		t.Run(a.ID, func(t *testing.T) {
			a.prepare(t, pool)
			start := time.Now()
			result, err := pool.Eval(t.Context(), a.body(), sandbox.Args{Raw: a.Args})
			if took := time.Since(start); a.mayTimeOut() && took > Patience {
				t.Errorf("took %v", took)
			}
			judge(t, a, result, err)
			Serves(t, pool)
		})
	}
}

// Raw is a body of any kind.
func Raw(source string) sandbox.Body { return sandbox.Body{Kind: sandbox.KindRaw, Source: source} }

func judge(t *testing.T, a attack, result sandbox.Result, err error) {
	t.Helper()
	got := outcome(t, err)
	if !slices.Contains(append(a.Accept, a.Expect), got) {
		t.Errorf("ended as %s (%s %v), want %s or one of %v", got, result.Value, err, a.Expect, a.Accept)
		return
	}
	switch {
	case got == "value" && a.Text != "":
		if string(result.Value) != a.Text {
			t.Errorf("gave %s, want the text %s", result.Value, a.Text)
		}
	case got == "value" && a.Value != nil:
		if !slices.ContainsFunc(append(a.Or, a.Value), func(v json.RawMessage) bool { return sameJSON(v, result.Value) }) {
			t.Errorf("gave %s, want %s", result.Value, a.Value)
		}
	case got == "error" && a.ErrorName != "":
		if !strings.HasPrefix(err.Error(), a.ErrorName) {
			t.Errorf("error %q, want a %s", err, a.ErrorName)
		}
	}
}

// outcome is the corpus's word for how an evaluation ended.
func outcome(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return "value"
	}
	var fault *sandbox.Error
	if !errors.As(err, &fault) {
		t.Fatalf("an error that is not the body's: %v", err)
	}
	switch fault.Type {
	case sandbox.TypeTimeout, sandbox.TypeMemory:
		return string(fault.Type)
	case sandbox.TypeSandbox:
		t.Fatalf("the evaluator could not be used: %v", err)
	}
	return "error"
}
