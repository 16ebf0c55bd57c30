package redact

import (
	"bytes"
	"encoding/binary"
)

// suspect says whether text may hold a secret. It never misses one that the rest of
// the package would find, at whatever depth of strings in strings: what it passes is
// not looked at again. It looks for clues, pieces of text one of which every secret
// has in it or before it. All clues are ASCII, so that in JSON they stand as they are
// unless somebody spelled them \u0041; that spelling is a clue itself.
//
//	text ──► three letters of a clue? ──► the clue? ──► where one can be? ──► look closely
//	            a table, six places           ~1 in 20        ~1 in 500
//	            without a branch
func suspect(text []byte) bool {
	i := 0
	for ; i+8 <= len(text); i += places {
		w := fold(binary.LittleEndian.Uint64(text[i:]))
		hit := clueTable[w&foldMask] | clueTable[w>>5&foldMask] | clueTable[w>>10&foldMask] |
			clueTable[w>>15&foldMask] | clueTable[w>>20&foldMask] | clueTable[w>>25&foldMask]
		if hit != 0 && clueAmong(text, i, i+places) {
			return true
		}
	}
	return clueAmong(text, i, len(text)-2) || mayHoldUserInfo(text)
}

const (
	// places is how many three-letter windows eight bytes have.
	places = 6
	// foldMask keeps three letters of five bits: what is left of a byte when its case
	// does not matter. Some clues look alike then; they are compared in full.
	foldMask = 1<<15 - 1
)

// fold squeezes eight bytes to five bits each.
func fold(w uint64) uint64 {
	w = w&0x001f001f001f001f | w>>3&0x03e003e003e003e0
	w = w&0x000003ff000003ff | w>>6&0x000ffc00000ffc00
	return w&0xfffff | w>>12&0xfffff00000
}

func fold3(s []byte) uint64 {
	return uint64(s[0]&31) | uint64(s[1]&31)<<5 | uint64(s[2]&31)<<10
}

// clueAmong looks for a clue whose three letters begin in text[from:to].
func clueAmong(text []byte, from, to int) bool {
	for i := from; i < to; i++ {
		first := clueTable[fold3(text[i:])]
		if first == 0 {
			continue
		}
		for n := int(first) - 1; n < len(clues) && clues[n].folded == clues[first-1].folded; n++ {
			if clues[n].at(text, i) {
				return true
			}
		}
	}
	return false
}

// mayHoldUserInfo looks for scheme://user:password@: an at sign with "://" or
// ":\/" in the same word.
func mayHoldUserInfo(text []byte) bool {
	for done := 0; ; {
		n := bytes.IndexByte(text[done:], '@')
		if n < 0 {
			return false
		}
		word := text[done : done+n]
		if end := bytes.LastIndexAny(word, " \"'`<>"); end >= 0 {
			word = word[end:]
		}
		if bytes.Contains(word, []byte("//")) || bytes.Contains(word, []byte(`\/`)) {
			return true
		}
		done += n + 1
	}
}
