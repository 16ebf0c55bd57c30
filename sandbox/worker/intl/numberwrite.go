package intl

import (
	"strconv"
	"strings"
)

// written is a number on its way to its text.
type written struct {
	format   *NumberFormat
	number   []Part // digits and what stands between them
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

func (f *NumberFormat) write(n Decimal) *written {
	w := &written{format: f}
	symbols := &f.locale.data.Number
	switch {
	case n.nan:
		w.number, w.isWord = []Part{{"nan", symbols.NaN}}, true
	case n.huge:
		w.number, w.isWord = []Part{{"infinity", symbols.Infinity}}, true
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
	return cardinal(w.format.locale.pluralLanguage(), w.operands)
}

// signOf is how the rounded number shows its sign.
func (f *NumberFormat) signOf(n Decimal) int {
	negative := n.negative && !n.nan
	zero := n.isZero() || n.nan
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
func (w *written) writePower(n Decimal) Decimal {
	step := 1
	if w.format.notation == "engineering" {
		step = 3
	}
	power := floorTo(n.magnitude(), step)
	rounded, least := w.format.digits.round(n.shift(-power))
	if again := floorTo(rounded.magnitude()+power, step); again != power && !rounded.isZero() {
		power = again
		rounded, least = w.format.digits.round(n.shift(-power))
	}
	w.digits(rounded, least)
	w.number = append(w.number, Part{"exponentSeparator", w.format.locale.data.Number.Exponent})
	if power < 0 {
		w.number = append(w.number, Part{"exponentMinusSign", w.format.locale.data.Number.Minus})
		power = -power
	}
	w.number = append(w.number, Part{"exponentInteger", strconv.Itoa(power)})
	return rounded
}

func floorTo(n, step int) int {
	if n < 0 {
		return -((-n + step - 1) / step) * step
	}
	return n / step * step
}

// writeCompact writes few digits; a word stands for the rest.
func (w *written) writeCompact(n Decimal) Decimal {
	power := n.magnitude()
	cut := w.format.cut(power)
	rounded, least := w.format.digits.round(n.shift(-cut))
	if again := rounded.magnitude() + cut; again > power && !rounded.isZero() {
		power = again
		cut = w.format.cut(power)
		rounded, least = w.format.digits.round(n.shift(-cut))
	}
	w.compact, w.power = cut, power
	w.digits(rounded, least)
	w.operands.exponent = cut
	return rounded
}

// digits writes what is left of a number after rounding.
func (w *written) digits(n Decimal, leastFraction int) {
	f := w.format
	whole, fraction := f.digits.written(n, leastFraction)
	w.operands = operandsOf(whole, fraction)
	symbols := &f.locale.data.Number
	decimal, group := symbols.Decimal, symbols.Group
	if f.style == "currency" {
		decimal, group = symbols.CurrencyDecimal, symbols.CurrencyGroup
	}
	for i, g := range f.groups(whole) {
		if i > 0 {
			w.number = append(w.number, Part{"group", group})
		}
		w.number = append(w.number, Part{"integer", g})
	}
	if fraction != "" {
		w.number = append(w.number, Part{"decimal", decimal}, Part{"fraction", fraction})
	}
}

func (f *NumberFormat) groups(whole string) []string {
	n := &f.locale.data.Number
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
	end := len(whole) - n.Primary
	out := []string{whole[end:]}
	for end > 0 {
		start := max(0, end-n.Secondary)
		out = append([]string{whole[start:end]}, out...)
		end = start
	}
	return out
}

// layout fills in a pattern.
func (w *written) layout(pattern string) []Part {
	symbols := &w.format.locale.data.Number
	return fill(pattern, func(token string) []Part {
		kind, text, named := strings.Cut(token, ":")
		switch {
		case named && kind == "u":
			return []Part{{"unit", text}}
		case named:
			return []Part{{"compact", text}}
		}
		switch kind {
		case "n":
			return w.number
		case "-":
			return []Part{{"minusSign", symbols.Minus}}
		case "+":
			return []Part{{"plusSign", symbols.Plus}}
		case "%":
			return []Part{{"percentSign", symbols.Percent}}
		}
		return []Part{{"currency", w.format.symbol(w)}}
	})
}

// fill turns a pattern into parts: its text as literals, its tokens as fill says.
func fill(pattern string, of func(token string) []Part) []Part {
	var out []Part
	for pattern != "" {
		start := strings.IndexByte(pattern, '{')
		if start < 0 {
			return append(out, Part{"literal", pattern})
		}
		if start > 0 {
			out = append(out, Part{"literal", pattern[:start]})
		}
		end := start + strings.IndexByte(pattern[start:], '}')
		out = append(out, of(pattern[start+1:end])...)
		pattern = pattern[end+1:]
	}
	return out
}
