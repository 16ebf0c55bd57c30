package setup

import (
	"strings"
	"testing"
)

func TestOnlyAYesIsAYes(t *testing.T) {
	for answer, want := range map[string]bool{"\n": true, "y\n": true, " YES \r\n": true, "n\n": false, "what\n": false} {
		var out strings.Builder
		got, err := confirm(strings.NewReader(answer), &out)
		if err != nil || got != want || strings.Contains(out.String(), "nothing was changed") == want {
			t.Errorf("%q: %v, %v, %q", answer, got, err, out.String())
		}
	}
	if _, err := confirm(strings.NewReader("y"), &strings.Builder{}); err == nil {
		t.Error("an answer that was cut off is one")
	}
}

func TestPipeIsNoTerminal(t *testing.T) {
	if onTerminal(strings.NewReader("")) {
		t.Error("a reader is a terminal")
	}
}
