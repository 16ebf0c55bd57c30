package guards_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bir-run/bir/sandbox/guards/injectionguard"
)

// hostileEverywhere are texts that no value of a plan that runs its values may hold,
// whatever its sample, at any place in it.
var hostileEverywhere = []string{
	";", "|", "&", "`", "$", "<", ">", "'", "\"", "\\", "\n", "\r", "\x00", "\t", "$(id)", "${x}", "; rm x", "' OR 1=1 --", "--", "/*", "*/",
	"\u202e", "\u200b", "\u2066", "\ufeff", "\u2028", "\u0085", "\x1b[2J", "\x7f", "\u2018", "\u2019", "\u201c", "\u201d", "\uff1b", "\uff07",
	"\u02bc", "\u037e", "\u01c0", "\u2044", "\ufe68", "\U0001d41a", "\u3164", "\ufe0f", "\u00ad", "\ufffd", " -rf", " \u2013x",
}

// hostileUnlessRecorded may be there where the sample has the sign.
var hostileUnlessRecorded = []string{"*", "?", "[", "{", "(", ")", "~", "!", "#", "=", "%", "@", "+", ":", ",", "^", "/", " "}

var hostileInFiles = []string{"\n", "\r", "\x00", "\u2028", "\u0085", "\v"}

// hostileInNames holds in every plan, where the sample is a bare name.
var hostileInNames = []string{"/../x", "\\", "/", ";", "`", "$", "'", "\"", "|", "&", "<", "\u202e", "\u200b", "\n", "\x00", "%2f", "%2e%2e%2f", "%5c", "%252f"}

// From each harmless text: with something hostile in it, at the start, in the middle
// and at the end, it is refused.
func TestMutatedValuesAreRefused(t *testing.T) {
	tried := 0
	for _, g := range valueGroups(t) {
		var sample string
		if json.Unmarshal(g.Sample, &sample) != nil {
			continue
		}
		for _, raw := range g.Harmless {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				continue
			}
			for _, hostile := range hostileFor(g.Risk, sample) {
				for _, at := range []int{0, middle(text), len(text)} {
					changed := text[:at] + hostile + text[at:]
					if changed == sample {
						continue
					}
					tried++
					if v := injectionguard.Check(g.request(quote(changed))); v.Allow {
						t.Errorf("%q passes for %s in a plan that %s", changed, g.Sample, g.Risk)
					}
				}
			}
		}
	}
	t.Logf("%d mutations", tried)
	if tried < 10_000 {
		t.Errorf("only %d mutations were tried", tried)
	}
}

func hostileFor(risk, sample string) (all []string) {
	switch risk {
	case "runs":
		all = append(all, hostileEverywhere...)
		for _, sign := range hostileUnlessRecorded {
			if !strings.Contains(sample, sign) && !(sign == "+" && strings.Contains(sample, "@")) {
				all = append(all, sign)
			}
		}
		return all
	case "writes":
		all = append(all, hostileInFiles...)
	}
	if isBareName(sample) {
		all = append(all, hostileInNames...)
	}
	return all
}

func isBareName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

// middle is the start of a character near the middle.
func middle(text string) int {
	at := len(text) / 2
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// From each harmless number: one of another kind is refused.
func TestMutatedTypesAreRefused(t *testing.T) {
	kinds := map[string]json.RawMessage{"text": json.RawMessage(`"x"`), "number": json.RawMessage(`7`), "switch": json.RawMessage(`true`),
		"nothing": json.RawMessage(`null`), "list": json.RawMessage(`[["x"]]`), "object": json.RawMessage(`{"added":"x"}`)}
	for sampleKind, sample := range kinds {
		for kind, v := range kinds {
			for _, risk := range []string{"runs", "writes", "none"} {
				verdict := injectionguard.Check(value(string(v), string(sample), risk))
				if same := kind == sampleKind; verdict.Allow != same && sampleKind != "nothing" {
					t.Errorf("a %s for a %s in a plan that %s: %+v", kind, sampleKind, risk, verdict)
				}
			}
		}
	}
}
