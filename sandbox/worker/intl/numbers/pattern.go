package numbers

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// pattern is what the written number is put into.
func (f *Format) pattern(w *written) string {
	category := w.category()
	inner := "{n}"
	if w.compact > 0 {
		inner = f.compactPattern(w, category, f.compactDisplay)
	}
	switch {
	case f.style == "percent" && f.notation == "compact":
		return strings.Replace(f.locale.Data.Patterns["percentCompact"][w.sign], "{n}", inner, 1)
	case f.style == "percent":
		return strings.Replace(f.locale.Data.Patterns["percent"][w.sign], "{n}", inner, 1)
	case f.style == "unit":
		return f.signed(w, inner, pick(f.unitPatterns(), category))
	case f.style == "currency" && f.currencyDisplay == "name":
		return f.signed(w, inner, pick(f.locale.Data.CurrencyPatterns, category))
	case f.style == "currency":
		return f.spaced(w, f.currencyPattern(w, category))
	}
	return f.signed(w, inner, "{n}")
}

// signed puts the number with its sign into a pattern that has none.
func (f *Format) signed(w *written, inner, around string) string {
	number := strings.Replace(f.locale.Data.Patterns["decimal"][w.sign], "{n}", inner, 1)
	return strings.Replace(around, "{n}", number, 1)
}

func pick(byCategory map[string]string, category string) string {
	if p, ok := byCategory[category]; ok {
		return p
	}
	return byCategory["other"]
}

func (f *Format) currencyPattern(w *written, category string) string {
	kind := "currency"
	if f.currencySign == "accounting" {
		kind = "accounting"
	}
	if w.compact == 0 {
		return f.locale.Data.Patterns[kind][w.sign]
	}
	// Compact patterns have no negative form of their own.
	return [...]string{plain: "", minus: "{-}", plus: "{+}"}[w.sign] + f.compactPattern(w, category, f.compactDisplay+"Currency")
}

// spaced keeps a symbol that ends in a letter off the digits beside it.
func (f *Format) spaced(w *written, pattern string) string {
	if w.isWord {
		return pattern
	}
	symbol := f.symbol(nil)
	last, _ := utf8.DecodeLastRuneInString(symbol)
	first, _ := utf8.DecodeRuneInString(symbol)
	if isWordy(last) {
		pattern = strings.Replace(pattern, "{c}{n}", "{c}\u00a0{n}", 1)
	}
	if isWordy(first) {
		pattern = strings.Replace(pattern, "{n}{c}", "{n}\u00a0{c}", 1)
	}
	return pattern
}

func isWordy(r rune) bool { return !unicode.In(r, unicode.S, unicode.Z) }

// symbol is how the currency is called. w chooses the form of its name.
func (f *Format) symbol(w *written) string {
	switch f.currencyDisplay {
	case "code":
		return f.currency
	case "name":
		return f.name(w.category())
	}
	both := f.locale.Data.Currencies[f.currency]
	if both == "" {
		return f.currency
	}
	wide, narrow, _ := strings.Cut(both, "|")
	if f.currencyDisplay == "narrowSymbol" {
		return narrow
	}
	return wide
}

// names are those of the currency, in the order of the locale's categories; nil if
// they are not known here, and Node knows them.
func (f *Format) names() []string {
	if text, ok := f.locale.Data.CurrencyNames[f.currency]; ok {
		return strings.Split(text, "|")
	}
	if slices.Contains(strings.Fields(cldr.TheWorld().Currencies.Others), f.currency) {
		return nil
	}
	return []string{f.currency}
}

func (f *Format) name(category string) string {
	names := f.names()
	order := strings.Split(f.locale.Data.CurrencyNames["|"], "|")
	if i := slices.Index(order, category); i >= 0 && i < len(names) {
		return names[i]
	}
	return names[0]
}

// cut is the number of digits that a compact form leaves to a word.
func (f *Format) cut(power int) int {
	entry := f.compactEntry(power, f.compactDisplay)
	if entry == nil {
		return 0
	}
	digits, _, _ := strings.Cut(entry["other"], "|")
	n, _ := strconv.Atoi(digits)
	return n
}

func (f *Format) compactEntry(power int, display string) map[string]string {
	entries := f.locale.Data.Compact[display]
	if f.style == "currency" && f.currencyDisplay != "name" && !strings.HasSuffix(display, "Currency") {
		entries = f.locale.Data.Compact[display+"Currency"]
	}
	if power < 3 {
		return nil
	}
	return entries[min(power-3, len(entries)-1)]
}

// exactlyOne is the category of 1 where a language has a word for it alone.
const exactlyOne = "=1"

func (f *Format) compactPattern(w *written, category, display string) string {
	entry := f.compactEntry(w.power, display)
	if w.operands.isNatural && w.operands.i() == 1 && entry[exactlyOne] != "" {
		category = exactlyOne
	}
	_, pattern, _ := strings.Cut(pick(entry, category), "|")
	return pattern
}
