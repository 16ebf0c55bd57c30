package client

import (
	"bytes"
	"encoding/json"
	"testing"
)

func contains(text []byte, part string) bool { return bytes.Contains(text, []byte(part)) }

const fingerprintKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func print(args string) string {
	return Fingerprint(fingerprintKey, "fleet", "list", json.RawMessage(args))
}

// The values are fixed: a proxy and a control server of two versions must agree.
func TestFingerprintsStayWhatTheyAre(t *testing.T) {
	for args, want := range map[string]string{
		``:              "284a9616a2d444bc6c16792f3e2264f31269b0068fa08e69b7fe37703ac2bebc",
		`{"a":1,"b":2}`: "e52beb5e9810cfea3add1328517147741f4df0cfa0a16d6c04287607e7e6f903",
		`{"n":1.0}`:     "1ad7c5fa11eee5d47d1054cbb890e3926376c78aea27510907922ab2c961504b",
		`{"s":"é<&>"}`:  "9da0d5293aff5be8f549d3b933fb4b093088de098ec565ffcc50548d35c8b387",
		`not json`:      "4affb78740035ac4c8c8dd2963885cc897fc1baa6f874752840c76b0b37bedde",
	} {
		if got := print(args); got != want {
			t.Errorf("%q: %s", args, got)
		}
	}
}

func TestSpellingDoesNotChangeAFingerprint(t *testing.T) {
	for _, same := range [][2]string{
		{`{"a":1,"b":{"c":[1,2],"d":null}}`, `{ "b" : {"d":null, "c":[1, 2]},` + "\n" + `"a":1}`},
		{`{"s":"é\/"}`, `{"s":"\u00e9/"}`},
		{``, `{}`}, {` `, `{ }`},
		{`{"a":1,"a":2}`, `{"a":2}`}, // of two members with one name readers take the last
	} {
		if print(same[0]) != print(same[1]) {
			t.Errorf("%s is not %s", same[0], same[1])
		}
	}
}

func TestMeaningDoes(t *testing.T) {
	seen := map[string]string{}
	for _, args := range []string{
		`{}`, `[]`, `null`, `{"n":1}`, `{"n":1.0}`, `{"n":1e0}`, `{"n":"1"}`, `{"n":[1]}`, `{"N":1}`,
		`{"n":9007199254740993}`, `{"n":9007199254740992}`, `{"n":1e400}`, `{"n":-0}`, `{"n":0}`,
		`{"n":[1,2]}`, `{"n":[2,1]}`, `{"n":"a b"}`, `{"n":"a  b"}`, `{"n":1} x`, `{"n":`,
	} {
		sum := print(args)
		if other, twice := seen[sum]; twice {
			t.Errorf("%s and %s are one", args, other)
		}
		seen[sum] = args
	}
}

func TestAFingerprintNamesServerAndToolHoweverTheyAreSpelled(t *testing.T) {
	of := func(server, tool string) string { return Fingerprint(fingerprintKey, server, tool, nil) }
	if of("plugin:a:b", "x.y") != of("plugin_a_b", "x_y") {
		t.Error("a hook knows the normalised names only")
	}
	if of("fleet", "list") == of("fleet", "lists") || of("fleet", "list") == of("fleets", "list") {
		t.Error("the names do not count")
	}
}

func TestAFingerprintNeedsItsKey(t *testing.T) {
	if got := Fingerprint("", "fleet", "list", nil); got != "" {
		t.Errorf("without a key: %s", got)
	}
	if Fingerprint("00", "fleet", "list", nil) == Fingerprint("01", "fleet", "list", nil) {
		t.Error("the key does not count")
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\u00e9"}]}`, `{"a":1e5}`, `"x"`, `{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		sum := print(args)
		var spaced bytes.Buffer
		if json.Indent(&spaced, []byte(args), " ", "\t") == nil && print(spaced.String()) != sum {
			t.Errorf("white space changes %q", args)
		}
	})
}
