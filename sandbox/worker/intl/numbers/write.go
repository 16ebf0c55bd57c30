package numbers

import (
	"strconv"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/decimal"
)

// written is a number on its way to its text.
type written struct {
	format   *Format
	number   []intl.Part // digits and what stands between them
	operands operands
	compact  int  // the power of ten that a word stands for; 0 for none
	power    int  // of that compact pattern's first digit
	sign     int  // the place of the pattern: plain, minus, plus
	isWord   bool // infinite or not a number
}

const (
	plain = iota
	minus
	plus
)

func (f *Format) write(n decimal.Decimal) *written {
	w := &written{format: f}
	symbols := &f.locale.Data.Number
	switch {
	case n.NaN:
		w.number, w.isWord = []intl.Part{{Type: "nan", Value: symbols.NaN}}, true
	case n.Infinite:
		w.number, w.isWord = []intl.Part{{Type: "infinity", Value: symbols.Infinity}}, true
	case f.notation == "compact":
		n = w.writeCompact(n)
	case f.notation == "standard":
		rounded, least := f.digits.round(n)
		n = rounded
		w.digits(n, least)
	default:
		n = w.writePower(n)
	}
	w.sign = f.signOf(n)
	return w
}

// category is the plural category of what is written.
func (w *written) category() string {
	if w.isWord {
		return "other"
	}
	return cardinal(pluralLanguage(w.format.locale), w.operands)
}

// signOf is how the rounded number shows its sign.
func (f *Format) signOf(n decimal.Decimal) int {
	negative := n.Negative && !n.NaN
	zero := n.IsZero() || n.NaN
	switch f.sign {
	case "never":
		return plain
	case "always":
		if !negative {
			return plus
		}
	case "exceptZero":
		if zero {
			return plain
		}
		if !negative {
			return plus
		}
	case "negative":
		if zero {
			return plain
		}
	}
	if negative {
		return minus
	}
	return plain
}

// writePower writes digits and a power of ten.
func (w *written) writePower(n decimal.Decimal) decimal.Decimal {
	step := 1
	if w.format.notation == "engineering" {
		step = 3
	}
	power := floorTo(n.Magnitude(), step)
	rounded, least := w.format.digits.round(n.Shift(-power))
	if again := floorTo(rounded.Magnitude()+power, step); again != power && !rounded.IsZero() {
		power = again
		rounded, least = w.format.digits.round(n.Shift(-power))
	}
	w.digits(rounded, least)
	w.number = append(w.number, intl.Part{Type: "exponentSeparator", Value: w.format.locale.Data.Number.Exponent})
	if power < 0 {
		w.number = append(w.number, intl.Part{Type: "exponentMinusSign", Value: w.format.locale.Data.Number.Minus})
		power = -power
	}
	w.number = append(w.number, intl.Part{Type: "exponentInteger", Value: strconv.Itoa(power)})
	return rounded
}

func floorTo(n, step int) int {
	if n < 0 {
		return -((-n + step - 1) / step) * step
	}
	return n / step * step
}

// writeCompact writes few digits; a word stands for the rest.
func (w *written) writeCompact(n decimal.Decimal) decimal.Decimal {
	power := n.Magnitude()
	cut := w.format.cut(power)
	rounded, least := w.format.digits.round(n.Shift(-cut))
	if again := rounded.Magnitude() + cut; again > power && !rounded.IsZero() {
		power = again
		cut = w.format.cut(power)
		rounded, least = w.format.digits.round(n.Shift(-cut))
	}
	w.compact, w.power = cut, power
	w.digits(rounded, least)
	w.operands.exponent = cut
	return rounded
}

// digits writes what is left of a number after rounding.
func (w *written) digits(n decimal.Decimal, leastFraction int) {
	f := w.format
	whole, fraction := f.digits.written(n, leastFraction)
	w.operands = operandsOf(whole, fraction)
	symbols := &f.locale.Data.Number
	decimal, group := symbols.Decimal, symbols.Group
	if f.style == "currency" {
		decimal, group = symbols.CurrencyDecimal, symbols.CurrencyGroup
	}
	for i, g := range f.groups(whole) {
		if i > 0 {
			w.number = append(w.number, intl.Part{Type: "group", Value: group})
		}
		w.number = append(w.number, intl.Part{Type: "integer", Value: g})
	}
	if fraction != "" {
		w.number = append(w.number, intl.Part{Type: "decimal", Value: decimal}, intl.Part{Type: "fraction", Value: fraction})
	}
}

func (f *Format) groups(whole string) []string {
	n := &f.locale.Data.Number
	least := 1
	switch f.grouping {
	case "auto":
		least = n.MinGrouping
	case "min2":
		least = max(2, n.MinGrouping)
	}
	if f.grouping == "false" || len(whole) < n.Primary+least {
		return []string{whole}
	}
	rest := n.Secondary
	if f.style == "currency" && f.currencySign == "accounting" && f.currencyDisplay != "name" {
		rest = n.Primary // those patterns group by threes, in India too
	}
	end := len(whole) - n.Primary
	var out []string
	for at, next := 0, (end-1)%rest+1; at < end; at, next = next, next+rest {
		out = append(out, whole[at:next])
	}
	return append(out, whole[end:])
}

// layout fills in a pattern.
func (w *written) layout(pattern string) []intl.Part {
	symbols := &w.format.locale.Data.Number
	return intl.Fill(pattern, func(token string) []intl.Part {
		kind, text, named := strings.Cut(token, ":")
		switch {
		case named && kind == "u":
			return []intl.Part{{Type: "unit", Value: text}}
		case named:
			return []intl.Part{{Type: "compact", Value: text}}
		}
		switch kind {
		case "n":
			return w.number
		case "-":
			return []intl.Part{{Type: "minusSign", Value: symbols.Minus}}
		case "+":
			return []intl.Part{{Type: "plusSign", Value: symbols.Plus}}
		case "%":
			return []intl.Part{{Type: "percentSign", Value: symbols.Percent}}
		}
		return []intl.Part{{Type: "currency", Value: w.format.symbol(w)}}
	})
}
