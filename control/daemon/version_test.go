package daemon

import "testing"

func TestVersionsAreOrderedAsTheyWereMade(t *testing.T) {
	inOrder := []string{
		"v0.9.12", "v1.0.0-alpha", "v1.0.0-rc.9", "1.0.0-rc.10", "v1.0.0-rc.10-2-gabc1234", "1.0.0",
		"v1.0.0-1-gabc1234", "v1.0.0-12-g0123456-dirty", "v1.0.1", "v1.2.0", "v1.10.0", "v2.0.0",
	}
	for i, a := range inOrder {
		for j, b := range inOrder {
			if got, want := newer(a, b), i > j; got != want {
				t.Errorf("newer(%s, %s) is %v", a, b, got)
			}
		}
	}
}

func TestVersionsWithoutAnOrderReplaceNothing(t *testing.T) {
	for _, c := range [][2]string{
		{"dev", "v1.0.0"}, {"v1.0.0", "dev"}, {"abc1234", "def5678"}, {"abc1234-dirty", "abc1234"}, {"", "v1.0.0"}, {"v1", "v0"},
		{"v1.0.0", "1.0.0"}, {"v1.0.0-dirty", "v1.0.0"},
	} {
		if newer(c[0], c[1]) {
			t.Errorf("%q replaces %q", c[0], c[1])
		}
	}
}
