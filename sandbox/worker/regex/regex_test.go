package regex

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func never() bool { return false }

// TestMatchesAsRecorded compares with what another engine found: cases.json is
// written by record.mjs beside it.
func TestMatchesAsRecorded(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Source []uint16
		Flags  string
		Input  []uint16
		Slots  []int
		Error  string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		source := string(utf16.Decode(c.Source))
		flags, ok := ParseFlags(c.Flags)
		if !ok {
			t.Fatalf("flags %q", c.Flags)
		}
		re, err := Compile(c.Source, flags)
		if err != nil {
			if err.Error() != c.Error {
				t.Errorf("/%s/%s: refused with %q, want %q", source, c.Flags, err, c.Error)
			}
			continue
		}
		if c.Error != "" {
			t.Errorf("/%s/%s: accepted, want %q", source, c.Flags, c.Error)
			continue
		}
		input := Input{Wide: append([]uint16{}, c.Input...)}
		if diff := cmp.Diff(c.Slots, re.Match(input, 0, false, never)); diff != "" {
			t.Errorf("/%s/%s on %q: %s", source, c.Flags, string(utf16.Decode(c.Input)), diff)
		}
	}
}

func compile(t testing.TB, source, letters string) *Regex {
	t.Helper()
	flags, ok := ParseFlags(letters)
	if !ok {
		t.Fatalf("flags %q", letters)
	}
	re, err := Compile(utf16.Encode([]rune(source)), flags)
	if err != nil {
		t.Fatalf("/%s/%s: %v", source, letters, err)
	}
	return re
}

func TestBacktrackingStops(t *testing.T) {
	re := compile(t, `^(a+)+$`, "")
	asked := 0
	stop := func() bool { asked++; return asked == 3 }
	if slots := re.Match(Input{ASCII: strings.Repeat("a", 64) + "b"}, 0, false, stop); slots != nil || asked != 3 {
		t.Errorf("slots %v after asking %d times whether to stop", slots, asked)
	}
}

func TestRoundsThatMatchNothingStop(t *testing.T) {
	re := compile(t, `(?:){2000000000}`, "")
	if slots := re.Match(Input{}, 0, false, func() bool { return true }); slots != nil {
		t.Errorf("slots %v", slots)
	}
}

func TestLongInputTakesNoStack(t *testing.T) {
	re := compile(t, `^(?:(a)|b)*$`, "")
	input := strings.Repeat("ab", 200_000)
	if slots := re.Match(Input{ASCII: input}, 0, false, never); slots == nil || slots[1] != len(input) {
		t.Errorf("slots %v", slots)
	}
}

func TestPlainPatternsAreTold(t *testing.T) {
	for source, want := range map[string]bool{
		`^\d{4}-\d{2}$`: true, `(\w+)\s*,`: true, `\bx`: false, `x*`: false, `(a|b)+`: true, `[^\r\n]+`: true,
		`(?:(a)|b)*`: false, `(a*)*`: false, `(?=a)`: false, `(a)\1`: false, `[😀]`: false,
	} {
		if got := compile(t, source, "").Plain; got != want {
			t.Errorf("/%s/: plain is %v", source, got)
		}
	}
	if compile(t, `^a$`, "m").Plain || compile(t, `k`, "i").Plain || compile(t, `\p{L}`, "u").Plain {
		t.Error("a pattern that engines see differently is told to be plain")
	}
}

func TestSequencesThatAreNotKnownAreRefused(t *testing.T) {
	_, err := Compile(utf16.Encode([]rune(`\p{RGI_Emoji}`)), Flags{Sets: true})
	if err == nil || !strings.Contains(err.Error(), "not available in bodies") {
		t.Errorf("error %v", err)
	}
}

func TestModifiersHoldForTheirGroup(t *testing.T) {
	re := compile(t, `a(?i:b)c|(?-i:d)`, "")
	for input, want := range map[string]bool{"aBc": true, "ABc": false, "d": true} {
		if got := re.Match(Input{ASCII: input}, 0, false, never) != nil; got != want {
			t.Errorf("%q: %v", input, got)
		}
	}
}

func FuzzCompileAndMatch(f *testing.F) {
	f.Add(`(?<a>[^\d-z]{1,2})\k<a>|\u{1F600}`, "v", "aa")
	f.Add(`[\q{ab}--[a-z]]`, "vi", "ab")
	f.Fuzz(func(t *testing.T, source, letters, input string) {
		flags, ok := ParseFlags(letters)
		if !ok {
			return
		}
		re, err := Compile(utf16.Encode([]rune(source)), flags)
		if err != nil {
			return
		}
		steps := 0
		text := Input{Wide: append([]uint16{}, utf16.Encode([]rune(input))...)}
		slots := re.Match(text, 0, false, func() bool { steps++; return steps > 10 })
		if slots != nil && (slots[0] < 0 || slots[1] < slots[0] || slots[1] > text.Length()) {
			t.Errorf("slots %v", slots)
		}
	})
}

func BenchmarkWords(b *testing.B) {
	re := compile(b, `\b[a-z]+\b`, "g")
	input := Input{ASCII: strings.Repeat("lorem ipsum dolor ", 100)}
	for b.Loop() {
		for at := 0; ; {
			slots := re.Match(input, at, false, never)
			if slots == nil {
				break
			}
			at = slots[1]
		}
	}
}
