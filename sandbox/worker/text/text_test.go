package text

import (
	"encoding/hex"
	"testing"
	"unicode/utf16"
)

func TestEncode(t *testing.T) {
	for _, tt := range []struct{ text, encoding, want string }{
		{"é", "utf8", "c3a9"},
		{"é", "latin1", "e9"},
		{"é", "utf16le", "e900"},
		{"0aFFx1", "hex", "0aff"},
		{"abc", "hex", "ab"},
		{"a-_b", "base64", "6befdb"},
		{"YW Jj=ZZ", "base64", "616263"},
		{"YWJjZ", "base64url", "616263"},
	} {
		if got := hex.EncodeToString(Encode(utf16.Encode([]rune(tt.text)), tt.encoding)); got != tt.want {
			t.Errorf("%q as %s is %s, want %s", tt.text, tt.encoding, got, tt.want)
		}
	}
}

func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		data, encoding, want string
		ok                   bool
	}{
		{"c3a9", "utf8", "é", true},
		{"f09f9841", "utf8", "\uFFFDA", false},
		{"eda080", "utf8", "\uFFFD\uFFFD\uFFFD", false},
		{"80e9", "windows-1252", "€é", true},
		{"e9", "ascii", "i", true},
		{"0061", "utf-16be", "a", true},
		{"3dd8", "utf-16le", "\uFFFD", false},
		{"6befdb", "base64url", "a-_b", true},
	} {
		data, err := hex.DecodeString(tt.data)
		if err != nil {
			t.Fatal(err)
		}
		units, used, ok := Decode(data, tt.encoding, false)
		if got := string(utf16.Decode(units)); got != tt.want || used != len(data) || ok != tt.ok {
			t.Errorf("%s as %s is %q, %d used, ok %v", tt.data, tt.encoding, got, used, ok)
		}
	}
}

func TestACutCharacterWaitsForItsRest(t *testing.T) {
	units, used, ok := Decode([]byte{'a', 0xE2, 0x82}, "utf8", true)
	if string(utf16.Decode(units)) != "a" || used != 1 || !ok {
		t.Errorf("%q, %d used, ok %v", string(utf16.Decode(units)), used, ok)
	}
}

func FuzzDecodeUTF8(f *testing.F) {
	f.Add([]byte("a\xf0\x9f\x98\x80\xff"), 3)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		whole, _, _ := Decode(data, "utf8", false)
		if cut < 0 || cut > len(data) {
			return
		}
		first, used, _ := Decode(data[:cut], "utf8", true)
		rest, _, _ := Decode(data[used:], "utf8", false)
		if got := append(first, rest...); string(utf16.Decode(got)) != string(utf16.Decode(whole)) {
			t.Errorf("cut at %d: %v, whole: %v", cut, got, whole)
		}
	})
}
