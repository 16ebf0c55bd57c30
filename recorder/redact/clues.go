package redact

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// clue is a text that gives a secret away. The three letters by which it is found
// are the rarest of it.
type clue struct {
	text   string
	offset int    // of the three letters
	exact  bool   // its case matters
	next   string // the lower-case letters that may go on with it; "*" for any
	where  func(text []byte, start, end int) bool
	folded uint64
}

// clues are sorted by their three letters. clueTable has the place of the first of
// each, counted from 1.
var (
	clues     = sortedClues()
	clueTable = tableOf(clues)
)

// sortedClues is one piece: a table. A shape or a word that is new in this package
// needs a line here; TestNothingThatIsFoundIsUnsuspected holds the two together.
func sortedClues() []clue {
	all := []clue{
		// The words of names. What makes them names of secrets is for nameKind.
		{text: "secret", offset: 2, next: "sk"}, {text: "pass", next: "wpc"}, {text: "pwd"}, {text: "token", next: "s"},
		{text: "jwt", next: "s"}, {text: "bearer", next: "t"}, {text: "auth", next: "kto", where: notAuthor},
		{text: "cookie", offset: 3, next: "s"}, {text: "cred", next: "es"}, {text: "key", next: "s", where: ownedKey},
		{text: "env", next: "svi", where: likeEnv}, {text: "sig", next: "n", where: signsURL},
		{text: "\u212a", exact: true, next: "*"}, {text: "u212a", next: "*"}, // the Kelvin sign, whose lower case is a k
		// The scheme and the JSON Web Token. A private key's block has a name in it.
		{text: "basic"}, {text: "eyJ", exact: true, next: "*", where: atStart},
		// The prefixes of tokens.
		{text: "sk-", next: "*", where: atStart}, {text: "glpat-", next: "*"}, {text: "gldt-", next: "*"}, {text: "glrt-", next: "*"},
		{text: "xox", next: "*"}, {text: "xapp-", next: "*"}, {text: "GOCSPX-", offset: 3, next: "*"}, {text: "pypi-", next: "*"},
		{text: "k_live_", next: "*"}, {text: "k_test_", next: "*"}, {text: "whsec_", offset: 1, next: "*"},
		{text: "ghp_", offset: 1, next: "*"}, {text: "gho_", offset: 1, next: "*"}, {text: "ghu_", offset: 1, next: "*"},
		{text: "ghs_", offset: 1, next: "*"}, {text: "ghr_", offset: 1, next: "*"}, {text: "github_pat_", offset: 5, next: "*"},
		{text: "npm_", offset: 1, next: "*"}, {text: "hf_", next: "*", where: atStart}, {text: "dop_v1_", offset: 2, next: "*"},
		{text: "shpat_", next: "*"}, {text: "lin_api_", offset: 2, next: "*"}, {text: "ya29.", offset: 1, next: "*"},
		{text: "SG.", exact: true, next: "*", where: atStart}, {text: "hvs.", offset: 1, next: "*"},
		{text: "AKIA", exact: true, next: "*", where: atStart}, {text: "ASIA", exact: true, next: "*", where: atStart},
		{text: "ABIA", exact: true, next: "*", where: atStart}, {text: "AIz", exact: true, next: "*", where: atStart},
		// What may be any of these.
		{text: "u00", next: "*", where: spellsASCII},
	}
	for i := range all {
		all[i].folded = fold3([]byte(all[i].text[all[i].offset:]))
	}
	slices.SortFunc(all, func(a, b clue) int { return cmp.Compare(a.folded, b.folded) })
	return all
}

func tableOf(sorted []clue) *[foldMask + 1]uint8 {
	table := new([foldMask + 1]uint8)
	for i := len(sorted) - 1; i >= 0; i-- {
		table[sorted[i].folded] = uint8(i + 1)
	}
	return table
}

// at holds where the clue is in text, with its three letters at i.
func (c *clue) at(text []byte, i int) bool {
	start := i - c.offset
	end := start + len(c.text)
	if start < 0 || end > len(text) || !c.spelled(text[start:end]) || !c.mayGoOn(text, end) {
		return false
	}
	return c.where == nil || c.where(text, start, end)
}

func (c *clue) spelled(found []byte) bool {
	if c.exact {
		return string(found) == c.text
	}
	return bytes.EqualFold(found, []byte(c.text))
}

// mayGoOn tells "tokens" from "tokenizer": between two lower-case letters no word
// ends.
func (c *clue) mayGoOn(text []byte, end int) bool {
	if c.next == "*" || end == len(text) || !isLower(text[end-1]) || !isLower(text[end]) {
		return true
	}
	return strings.IndexByte(c.next, text[end]) >= 0
}

func isLower(b byte) bool { return b >= 'a' && b <= 'z' }

// atStart holds where a word can begin: after no letter or digit, other than those
// of an escape.
func atStart(text []byte, start, _ int) bool {
	return start == 0 || !isAlnum(text[start-1]) || afterEscape(text, start)
}

// afterEscape holds after \n and the like, and after \u2028 and the like.
func afterEscape(text []byte, i int) bool {
	return i > 1 && text[i-2] == '\\' || i > 5 && text[i-6] == '\\' && text[i-5] == 'u'
}

// spellsASCII holds for \u00 before a code that may be a clue's letter. Encoders
// spell < and > so, and control characters: those are none.
func spellsASCII(text []byte, start, end int) bool {
	if start == 0 || text[start-1] != '\\' || end == len(text) {
		return false
	}
	code := text[end:min(len(text), end+2)]
	return code[0] >= '2' && code[0] < '8' && !strings.EqualFold(string(code), "3c") && !strings.EqualFold(string(code), "3e")
}

// notAuthor leaves out "author", which is the beginning of "authorization".
func notAuthor(text []byte, _, end int) bool {
	return !foldedAt(text, end, "or") || foldedAt(text, end, "oriz")
}

func foldedAt(text []byte, at int, word string) bool {
	return at+len(word) <= len(text) && strings.EqualFold(string(text[at:at+len(word)]), word)
}

// ownedKey holds for a key that may belong to one of keyOwners, with or without
// something in between: apiKey, "api key", API_KEY.
func ownedKey(text []byte, start, _ int) bool {
	i := start
	for i > 0 && start-i < maxNameScan && !isLetter(text[i-1]) {
		i--
	}
	if start-i == maxNameScan || afterEscape(text, i) {
		return true // too far to tell
	}
	for owner := range keyOwners {
		if i >= len(owner) && foldedAt(text, i-len(owner), owner) {
			return true
		}
	}
	return false
}

// likeEnv leaves out "environment" where no "vars" follow.
func likeEnv(text []byte, _, end int) bool {
	if !foldedAt(text, end, "ironment") {
		return true
	}
	after := end + len("ironment")
	next := run(text[:min(len(text), after+maxNameScan)], after, func(b byte) bool { return !isLetter(b) })
	return next-after == maxNameScan || text[next-1] == '\\' || foldedAt(text, next, "var")
}

// signsURL holds for what signs a URL: "?sig=", "&sig=" and "-Signature=".
func signsURL(text []byte, start, _ int) bool {
	return start > 0 && (text[start-1] == '?' || text[start-1] == '&' || text[start-1] == '-')
}
