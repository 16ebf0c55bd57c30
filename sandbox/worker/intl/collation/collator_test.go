package collation

import (
	"testing"

	"github.com/bir-run/bir/sandbox/worker/intl"
)

func TestKeysAreReadAsPackageCollateWritesThem(t *testing.T) {
	c, err := New(intl.Request{Locales: []string{"en"}})
	if err != nil {
		t.Fatal(err)
	}
	c.open()
	for text, want := range map[string]int{"": 0, "a": 1, "aB": 2, "á": 2, "日本": 2, "-": 1} {
		k := splitKey(c.order.KeyFromString(&c.left, text))
		if len(k.forms) != want {
			t.Errorf("%q has forms %x, want %d of them", text, k.forms, want)
		}
	}
}

func FuzzOrderIsTheSameBothWays(f *testing.F) {
	var collators []*Collator
	for _, locale := range []string{"en", "ja", "fr-CA", "de-u-kn-kf-upper"} {
		c, err := New(intl.Request{Locales: []string{locale}})
		if err != nil {
			f.Fatal(err)
		}
		collators = append(collators, c)
	}
	f.Add("file 10", "File 2")
	f.Add("côte", "coté")
	f.Add("あ", "я")
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, c := range collators {
			if there, back := c.Compare(a, b), c.Compare(b, a); there != -back {
				t.Errorf("%s: %q to %q is %d, back %d", c.locale.Tag, a, b, there, back)
			}
		}
	})
}
