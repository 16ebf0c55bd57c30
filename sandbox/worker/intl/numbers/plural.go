package numbers

import (
	"strconv"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
	"github.com/bir-run/bir/sandbox/worker/intl/decimal"
)

// operands are what plural rules look at: the value and its visible digits.
type operands struct {
	whole     string // digits before the point
	fraction  string // those behind it
	exponent  int    // of a compact form
	isNatural bool   // no fraction is visible
}

func operandsOf(whole, fraction string) operands {
	return operands{whole: strings.TrimLeft(whole, "0"), fraction: fraction, isNatural: fraction == ""}
}

// is tells whether the value is exactly n.
func (o operands) is(n int) bool {
	return strings.Trim(o.fraction, "0") == "" && o.i() == n
}

// i is the whole part. ICU keeps 18 digits of it.
func (o operands) i() int {
	n, _ := strconv.Atoi(o.whole[max(0, len(o.whole)-18):])
	return n
}

// millions tells whether the value is a whole number of them, or in a compact form
// that is not.
func (o operands) millions() bool {
	if o.exponent > 5 {
		return true
	}
	return o.exponent == 0 && o.isNatural && o.i() != 0 && strings.HasSuffix(o.whole, "000000")
}

// cardinal is the category of a quantity.
func cardinal(language string, o operands) string {
	one, many := false, false
	switch language {
	case "en", "de", "nl", "sv":
		one = o.isNatural && o.i() == 1
	case "it":
		one, many = o.isNatural && o.i() == 1, o.millions()
	case "es":
		one, many = o.is(1), o.millions()
	case "fr", "pt":
		one, many = o.i() < 2, o.millions()
	case "pt-PT":
		one, many = o.isNatural && o.i() == 1, o.millions()
	}
	return category(one, many)
}

func category(one, many bool) string {
	switch {
	case one:
		return "one"
	case many:
		return "many"
	}
	return "other"
}

// ordinal is the category of a place in an order.
func ordinal(language string, o operands) string {
	if strings.Trim(o.fraction, "0") != "" {
		return "other"
	}
	n := o.i()
	ten, hundred := n%10, n%100
	switch language {
	case "en":
		switch {
		case ten == 1 && hundred != 11:
			return "one"
		case ten == 2 && hundred != 12:
			return "two"
		case ten == 3 && hundred != 13:
			return "few"
		}
	case "fr":
		return category(n == 1, false)
	case "it":
		return category(false, n == 8 || n == 11 || n == 80 || n == 800)
	case "sv":
		return category((ten == 1 || ten == 2) && hundred != 11 && hundred != 12, false)
	}
	return "other"
}

// PluralRules sorts numbers into the categories of a language.
type PluralRules struct {
	locale  *intl.Locale
	ordinal bool
	digits  digitOptions
}

// NewPluralRules is the constructor Intl.PluralRules.
func NewPluralRules(q intl.Request) (*PluralRules, *intl.Error) {
	r := q.Reader("Intl.PluralRules")
	r.Matcher()
	p := &PluralRules{ordinal: r.Choice("type", "cardinal", "cardinal", "ordinal") == "ordinal"}
	p.digits = readDigits(r, 0, 3, false)
	if r.Err != nil {
		return nil, r.Err
	}
	locale, err := intl.Resolve(q.Locales)
	if err != nil {
		return nil, err
	}
	p.locale = withoutRegion(locale)
	return p, nil
}

// Select is the category of n.
func (p *PluralRules) Select(n decimal.Decimal) string {
	if n.NaN || n.Infinite {
		return "other"
	}
	rounded, least := p.digits.round(n)
	o := operandsOf(p.digits.written(rounded, least))
	if p.ordinal {
		return ordinal(pluralLanguage(p.locale), o)
	}
	return cardinal(pluralLanguage(p.locale), o)
}

// Resolved are the options in effect.
func (p *PluralRules) Resolved() []intl.Resolved {
	kind, categories := "cardinal", p.locale.Data.Plurals.Cardinal
	if p.ordinal {
		kind, categories = "ordinal", p.locale.Data.Plurals.Ordinal
	}
	out := append([]intl.Resolved{{Name: "locale", Value: p.locale.Tag}, {Name: "type", Value: kind}}, p.digits.resolved()...)
	return append(out, intl.Resolved{Name: "pluralCategories", Value: strings.Fields(categories)})
}

// withoutRegion is the locale as far as plural rules have data of their own.
func withoutRegion(l *intl.Locale) *intl.Locale {
	name := pluralLanguage(l)
	return &intl.Locale{Tag: name, Data: cldr.Load(name)}
}

// pluralLanguage is what plural rules of a locale go by.
func pluralLanguage(l *intl.Locale) string {
	if strings.HasPrefix(l.Tag, "pt-PT") {
		return "pt-PT"
	}
	return l.Language()
}
