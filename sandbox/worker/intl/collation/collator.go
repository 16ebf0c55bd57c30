// Package collation orders texts as the languages do, by the tables of
// golang.org/x/text/collate, which goja has already, and with the options of
// Intl.Collator that these tables lack.
package collation

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"

	"github.com/bir-run/bir/sandbox/worker/intl"
)

// Collator orders texts. It is not safe for use by several goroutines.
type Collator struct {
	locale             *intl.Locale
	usage, sensitivity string
	punctuation        bool // counts for nothing
	numeric            bool
	caseFirst          string
	order              *collate.Collator
	left, right        collate.Buffer
	moved              *movedScripts // where the language has scripts elsewhere
}

// New is the constructor Intl.Collator.
func New(q intl.Request) (*Collator, *intl.Error) {
	r := q.Reader("Intl.Collator")
	c := &Collator{}
	c.usage = r.Choice("usage", "sort", "sort", "search")
	r.Matcher()
	if name, ok := r.Text("collation"); ok && name != "default" {
		r.Fail(noCollation(name))
	}
	numeric, hasNumeric := r.Truth("numeric")
	caseFirst := r.Choice("caseFirst", "", "upper", "lower", "false")
	c.sensitivity = r.Choice("sensitivity", "variant", "base", "accent", "case", "variant")
	c.punctuation, _ = r.Truth("ignorePunctuation")
	if r.Err != nil {
		return nil, r.Err
	}
	var err *intl.Error
	if c.locale, err = intl.Resolve(q.Locales, "co", "kf", "kn"); err != nil {
		return nil, err
	}
	if name := c.locale.Extensions["co"]; name != "" {
		return nil, noCollation(name)
	}
	kn, hasKn := c.locale.Extensions["kn"]
	c.numeric = hasKn && kn != "false"
	if hasNumeric {
		c.numeric = numeric
	}
	if c.caseFirst = c.locale.Extensions["kf"]; caseFirst != "" {
		c.caseFirst = caseFirst
	}
	if c.caseFirst != "upper" && c.caseFirst != "lower" {
		c.caseFirst = "false"
	}
	return c, nil
}

func noCollation(name string) *intl.Error {
	return intl.RangeError(fmt.Sprintf("The collation %s is not available to bodies", name))
}

// open finds the order when it is first needed: that is most of the work, and many
// collators are made only to find that there is one already.
func (c *Collator) open() {
	name, _, _ := strings.Cut(c.locale.Tag, "-u-")
	if c.locale.Language() == "ja" && c.usage == "search" {
		name = "und" // Japanese has an order for sorting only
	}
	var options []collate.Option
	if c.numeric {
		options = append(options, collate.Numeric)
	}
	c.order = collate.New(language.Make(name), options...)
	if c.locale.Language() == "ja" && c.usage == "sort" {
		c.moved = scriptsOf(c.order)
	}
}

// Resolved are the options in effect.
func (c *Collator) Resolved() []intl.Resolved {
	return []intl.Resolved{{Name: "locale", Value: c.locale.Tag}, {Name: "usage", Value: c.usage}, {Name: "sensitivity", Value: c.sensitivity},
		{Name: "ignorePunctuation", Value: c.punctuation}, {Name: "collation", Value: "default"}, {Name: "numeric", Value: c.numeric}, {Name: "caseFirst", Value: c.caseFirst}}
}

// Key is the same for collators that order alike.
func (c *Collator) Key() string {
	key := c.locale.Tag + " " + c.usage + " " + c.sensitivity + " " + c.caseFirst
	if c.numeric {
		key += " numeric"
	}
	if c.punctuation {
		key += " punctuation"
	}
	return key
}

// Compare is negative, zero or positive as a stands before, with or behind b.
func (c *Collator) Compare(a, b string) int {
	if a == b {
		return 0
	}
	if c.order == nil {
		c.open()
	}
	if c.punctuation {
		a, b = withoutPunctuation(a), withoutPunctuation(b)
	}
	if c.sensitivity == "variant" && c.caseFirst == "false" && c.moved == nil && !c.backwards() {
		return c.order.CompareString(a, b)
	}
	c.left.Reset()
	c.right.Reset()
	ka, kb := splitKey(c.order.KeyFromString(&c.left, a)), splitKey(c.order.KeyFromString(&c.right, b))
	order := c.compareKeys(ka, kb)
	if order == 0 && (c.sensitivity == "case" || c.sensitivity == "variant" && c.caseFirst != "false") {
		order = c.compareCases(a, b)
	}
	if order == 0 && c.sensitivity == "variant" {
		order = bytes.Compare(ka.forms, kb.forms)
	}
	return order
}

// backwards tells whether accents count from the end, as in Canada's French.
func (c *Collator) backwards() bool { return strings.HasPrefix(c.locale.Tag, "fr-CA") }

// key has the weights of a text at three levels: the letters, their marks, their forms.
type key struct {
	letters, marks, forms []byte
}

// splitKey reads a key of package collate: weights of two bytes, or of three where the
// first has its high bit; two zeros; weights of two bytes; two zeros; bytes.
func splitKey(k []byte) key {
	at := 0
	for at+1 < len(k) && (k[at] != 0 || k[at+1] != 0) {
		at += 2 + int(k[at]>>7)
	}
	letters := k[:at]
	k = k[min(at+2, len(k)):]
	at = 0
	for at+1 < len(k) && (k[at] != 0 || k[at+1] != 0) {
		at += 2
	}
	return key{letters, k[:at], k[min(at+2, len(k)):]}
}

// compareKeys compares letters and marks, as far as they count.
func (c *Collator) compareKeys(a, b key) int {
	letters := bytes.Compare(a.letters, b.letters)
	if c.moved != nil {
		letters = c.moved.compare(a.letters, b.letters)
	}
	if letters != 0 || c.sensitivity == "base" || c.sensitivity == "case" {
		return letters
	}
	if c.backwards() {
		a.marks, b.marks = reversed(a.marks), reversed(b.marks)
	}
	return bytes.Compare(a.marks, b.marks)
}

func reversed(weights []byte) []byte {
	out := make([]byte, 0, len(weights))
	for i := len(weights) - 2; i >= 0; i -= 2 {
		out = append(out, weights[i], weights[i+1])
	}
	return out
}

// compareCases compares nothing but whether letters are capitals.
func (c *Collator) compareCases(a, b string) int {
	order := strings.Compare(casesOf(a), casesOf(b))
	if c.caseFirst == "upper" {
		return -order
	}
	return order
}

// casesOf has a 1 for each capital, up to the last one.
func casesOf(s string) string {
	var out strings.Builder
	for _, r := range norm.NFD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsUpper(r):
			out.WriteByte('1')
		default:
			out.WriteByte('0')
		}
	}
	return strings.TrimRight(out.String(), "0")
}

func withoutPunctuation(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPunct(r) || unicode.IsSpace(r) || unicode.Is(unicode.Z, r) {
			return -1
		}
		return r
	}, s)
}

// movedScripts knows where the weights of scripts begin, for a language that has kana
// and kanji right behind the Latin letters.
type movedScripts struct {
	greek, kana, bopomofo, han []byte
}

func scriptsOf(order *collate.Collator) *movedScripts {
	first := func(s string) []byte {
		var buf collate.Buffer
		letters := splitKey(order.KeyFromString(&buf, s)).letters
		return letters[:2+int(letters[0]>>7)]
	}
	return &movedScripts{greek: first("α"), kana: first("ァ"), bopomofo: first("ㄅ"), han: first("亜")}
}

func (m *movedScripts) compare(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 {
		wa, wb := a[:2+int(a[0]>>7)], b[:2+int(b[0]>>7)]
		if by := m.group(wa) - m.group(wb); by != 0 {
			return max(-1, min(1, by))
		}
		if by := bytes.Compare(wa, wb); by != 0 {
			return by
		}
		a, b = a[len(wa):], b[len(wb):]
	}
	return max(-1, min(1, len(a)-len(b)))
}

// group is the place of a weight's script.
func (m *movedScripts) group(weight []byte) int {
	in := func(from, to []byte) bool {
		return bytes.Compare(weight, from) >= 0 && (to == nil || bytes.Compare(weight, to) < 0)
	}
	switch {
	case in(m.kana, m.bopomofo):
		return 1
	case in(m.han, nil):
		return 2
	case in(m.greek, nil):
		return 3
	}
	return 0
}
