package decimal

import "testing"

func TestRoundingModesDifferOnlyWhereTheyMust(t *testing.T) {
	numbers := []string{"2.5", "-2.5", "2.4", "-2.6", "3.5", "2.51", "2", "0.05"}
	for mode, want := range map[string][]string{
		"ceil":       {"3", "-2", "3", "-2", "4", "3", "2", "1"},
		"floor":      {"2", "-3", "2", "-3", "3", "2", "2", "0"},
		"expand":     {"3", "-3", "3", "-3", "4", "3", "2", "1"},
		"trunc":      {"2", "-2", "2", "-2", "3", "2", "2", "0"},
		"halfCeil":   {"3", "-2", "2", "-3", "4", "3", "2", "0"},
		"halfFloor":  {"2", "-3", "2", "-3", "3", "3", "2", "0"},
		"halfExpand": {"3", "-3", "2", "-3", "4", "3", "2", "0"},
		"halfTrunc":  {"2", "-2", "2", "-3", "3", "3", "2", "0"},
		"halfEven":   {"2", "-2", "2", "-3", "4", "3", "2", "0"},
	} {
		for i, number := range numbers {
			if got := rounded(t, number, 1, mode); got != want[i] {
				t.Errorf("%s of %s is %s, want %s", mode, number, got, want[i])
			}
		}
	}
}

func TestRoundingGoesInSteps(t *testing.T) {
	for number, want := range map[string]string{"12": "10", "12.5": "15", "12.49": "10", "13": "15", "0": "0", "-2.5": "-5", "99": "100"} {
		if got := rounded(t, number, 5, "halfExpand"); got != want {
			t.Errorf("%s is %s, want %s", number, got, want)
		}
	}
}

func rounded(t *testing.T, number string, increment int, mode string) string {
	t.Helper()
	d, ok := Parse(number)
	if !ok {
		t.Fatalf("%q is no number", number)
	}
	d = d.Round(0, increment, mode)
	if d.Negative && !d.IsZero() {
		return "-" + d.Whole()
	}
	return d.Whole()
}

func TestOnlyNumbersAreRead(t *testing.T) {
	for _, text := range []string{"", "-", ".", "1.2.3", "0x10", "1e", "e5", "1e99999999", "NaN", " 1", "1 ", "--1", "1_000"} {
		if d, ok := Parse(text); ok {
			t.Errorf("%q is read as %+v", text, d)
		}
	}
}

func FuzzDecimalKeepsItsDigits(f *testing.F) {
	f.Add("1234.5678", 2)
	f.Add("-0.0005", 3)
	f.Add("9e20", 0)
	f.Fuzz(func(t *testing.T, text string, digits int) {
		d, ok := Parse(text)
		if !ok || digits < 0 || digits > 100 {
			return
		}
		once := d.Round(-digits, 1, "halfExpand")
		if twice := once.Round(-digits, 1, "halfExpand"); twice != once {
			t.Errorf("%q to %d digits: %+v, again %+v", text, digits, once, twice)
		}
		if len(once.Fraction()) > digits {
			t.Errorf("%q to %d digits has %q", text, digits, once.Fraction())
		}
	})
}
