package tomledit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestStringsAndKeysAreSpelledAsTOMLHasThem(t *testing.T) {
	for s, want := range map[string]string{
		"plain": `"plain"`, `a"b\c`: `'a"b\c'`, `it's "x"`: `"it's \"x\""`, "a\x01\n": `"a\u0001\u000a"`, "": `""`,
	} {
		if got := Quote(s); got != want {
			t.Errorf("%q: got %s", s, got)
		}
		d, err := Parse([]byte("v = " + Quote(s)))
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := d.Value("v"); v != s {
			t.Errorf("%q is read as %q", s, v)
		}
	}
	for name, want := range map[string]string{"a-b_1": "a-b_1", "a b": `"a b"`, "": `""`, "ü": `"ü"`} {
		if got := Key(name); got != want {
			t.Errorf("%q: got %s", name, got)
		}
	}
}

func TestTablesAreFoundHoweverTheyAreWritten(t *testing.T) {
	text := "\ufeff[s.a]\nx=1\n[s]\nb.x = 1\nc = {x = 1}\nn = 3\n[[s.d]]\nx=1\n[s.e.sub]\nx=1\n[other]\nx=1\n"
	d, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "e"}, d.Tables("s")); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNoTOMLIsRefused(t *testing.T) {
	for _, text := range []string{"a", "a = ", "[a]\n[a]\n", "a = 1\na = 2\n", "a = 'x", "[a", "a = [1,,2]"} {
		if _, err := Parse([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
