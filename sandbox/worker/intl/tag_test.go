package intl

import "testing"

func FuzzCanonicalTagsAreCanonical(f *testing.F) {
	for _, tag := range []string{"en-us", "DE-latn-de-1996-u-KN-true-co-phonebk", "x-y", "i-klingon", "en-a-bb-x-1"} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		once, err := Canonical(tag)
		if err != nil {
			return
		}
		if twice, err := Canonical(once); err != nil || twice != once {
			t.Errorf("%q is %q, and that %q %v", tag, once, twice, err)
		}
	})
}
