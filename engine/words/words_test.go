package words_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/engine/words"
)

func TestTokensLeaveOutThePunctuationAround(t *testing.T) {
	tests := map[string][]string{
		"find it, please!":                  {"find", "it", "please"},
		`read "two words" and 'one' it's x`: {"read", "two words", "and", "one", "it", "x"},
		"issue #42 (urgent): see eu-west's": {"issue", "42", "urgent", "see", "eu-west"},
		"region=eu-west url=http://x/?a=b":  {"region", "eu-west", "url=http://x/?a=b"},
		"„Grüße aus Köln“ an a@b.c.":        {"Grüße aus Köln", "an", "a@b.c"},
		"a \" b":                            {"a", "b"},
	}
	for text, want := range tests {
		var got []string
		for _, token := range words.Tokens(text) {
			got = append(got, token.Text)
			if text[token.Start:token.End] != token.Text {
				t.Errorf("%q does not stand at %d in %q", token.Text, token.Start, text)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func FuzzTokensStandWhereTheySay(f *testing.F) {
	f.Add(`a "b c" d=e, f's`)
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, token := range words.Tokens(text) {
			if token.Start < end || token.End < token.Start || text[token.Start:token.End] != token.Text {
				t.Fatalf("%+v in %q", token, text)
			}
			end = token.End
		}
	})
}

func TestSuperlativesFindTheirField(t *testing.T) {
	tests := []struct {
		prompt, field string
		dates         bool
		fit           int
		direction     words.Direction
	}{
		{"the riskiest device", "risk", false, 3, words.Largest},
		{"the riskiest device", "riskScore", false, 3, words.Largest},
		{"the riskiest device", "price", false, 0, words.Largest},
		{"with the highest temperature", "temperature", false, 3, words.Largest},
		{"with the lowest battery level", "battery", false, 3, words.Smallest},
		{"the oldest job", "created", true, 3, words.Smallest},
		{"the cheapest offer", "price", false, 2, words.Smallest},
		{"the most expensive order", "price", false, 2, words.Largest},
	}
	for _, test := range tests {
		tokens := words.Tokens(test.prompt)
		best, direction := 0, words.None
		for _, s := range words.Superlatives(tokens) {
			if fit := s.Fit(test.field, test.dates, tokens); fit >= best {
				best, direction = fit, s.Direction
			}
		}
		if best != test.fit || direction != test.direction {
			t.Errorf("%q and %s: fit %d, direction %d", test.prompt, test.field, best, direction)
		}
	}
	if found := words.Superlatives(words.Tokens("send a request to test the forest")); len(found) != 0 {
		t.Errorf("no superlatives: %v", found)
	}
}

func TestNamesAreReadInAnyConvention(t *testing.T) {
	for _, name := range []string{"riskScore", "risk_score", "risk-score", "RiskScore", "risk score"} {
		if got := words.Camel(words.Segments(name)...); got != "riskScore" {
			t.Errorf("%s: %s", name, got)
		}
	}
	for name, want := range map[string]string{"class": "classValue", "2fa": "", "größe": "gre"} {
		if got := words.Camel(words.Segments(name)...); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
