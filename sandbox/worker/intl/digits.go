package intl

import (
	"slices"
	"strings"
)

// digitOptions say how many digits are written and how the rest is rounded away.
type digitOptions struct {
	leastInteger                 int
	leastFraction, mostFraction  int
	leastSignificant, mostSignif int
	by                           string // fraction, significant, more or less: which limits count
	increment                    int
	mode                         string
	stripZeros                   bool // of a whole number
	priority                     string
}

var increments = []int{1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, 2000, 2500, 5000}

var roundingModes = []string{"ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"}

// digits reads the options, in the order in which JavaScript does.
func (r *reader) digits(leastFraction, mostFraction int, compact bool) digitOptions {
	d := digitOptions{leastInteger: 1}
	if n := r.number("minimumIntegerDigits", 1, 21); n > 0 {
		d.leastInteger = n
	}
	hasFD := r.has("minimumFractionDigits", "maximumFractionDigits")
	hasSD := r.has("minimumSignificantDigits", "maximumSignificantDigits")
	d.increment = 1
	if n := r.number("roundingIncrement", 1, 5000); n > 0 {
		d.increment = n
		if !slices.Contains(increments, n) {
			r.fail(rangeError("roundingIncrement value is out of range."))
		}
	}
	d.mode = r.choice("roundingMode", "halfExpand", roundingModes...)
	d.priority = r.choice("roundingPriority", "auto", "auto", "morePrecision", "lessPrecision")
	d.stripZeros = r.choice("trailingZeroDisplay", "auto", "auto", "stripIfInteger") == "stripIfInteger"
	if d.increment != 1 {
		mostFraction = leastFraction
	}
	needSD, needFD := true, true
	if d.priority == "auto" {
		needSD = hasSD
		if needSD || !hasFD && compact {
			needFD = false
		}
	}
	if needSD {
		r.significant(&d, hasSD)
	}
	if needFD {
		r.fractions(&d, hasFD, leastFraction, mostFraction)
	}
	r.settle(&d, needSD, needFD)
	return d
}

func (r *reader) has(names ...string) bool {
	return r.err == nil && slices.ContainsFunc(names, func(name string) bool {
		_, ok := r.from.Number(name)
		return ok
	})
}

func (r *reader) significant(d *digitOptions, given bool) {
	d.leastSignificant, d.mostSignif = 1, 21
	if !given {
		return
	}
	if n := r.number("minimumSignificantDigits", 1, 21); n > 0 {
		d.leastSignificant = n
	}
	if n := r.number("maximumSignificantDigits", d.leastSignificant, 21); n > 0 {
		d.mostSignif = n
	}
}

func (r *reader) fractions(d *digitOptions, given bool, least, most int) {
	d.leastFraction, d.mostFraction = least, most
	if !given {
		return
	}
	lf := r.number("minimumFractionDigits", 0, 100)
	mf := r.number("maximumFractionDigits", 0, 100)
	switch {
	case lf < 0 && mf < 0:
		return
	case lf < 0:
		lf = min(least, mf)
	case mf < 0:
		mf = max(most, lf)
	case lf > mf:
		r.fail(rangeError("maximumFractionDigits value is out of range."))
	}
	d.leastFraction, d.mostFraction = lf, mf
}

// settle decides which limits count.
func (r *reader) settle(d *digitOptions, needSD, needFD bool) {
	switch {
	case !needSD && !needFD: // compact
		d.mostFraction, d.leastSignificant, d.mostSignif = 0, 1, 2
		d.by = "more"
	case d.priority == "morePrecision":
		d.by = "more"
	case d.priority == "lessPrecision":
		d.by = "less"
	case needSD:
		d.by = "significant"
	default:
		d.by = "fraction"
	}
	if d.increment == 1 {
		return
	}
	if d.by != "fraction" {
		r.fail(typeError("roundingIncrement value is invalid."))
	} else if d.mostFraction != d.leastFraction {
		r.fail(rangeError("roundingIncrement value is out of range."))
	}
}

// round rounds n and gives the least number of fraction digits to write.
func (d *digitOptions) round(n Decimal) (Decimal, int) {
	// Powers of ten of the last digit, by either limit.
	byFraction := -d.mostFraction
	bySignificant := n.magnitude() - d.mostSignif + 1
	significant := d.by == "significant"
	switch d.by {
	case "more":
		significant = bySignificant <= byFraction
	case "less":
		significant = bySignificant > byFraction
	}
	if !significant {
		n = n.round(byFraction, d.increment, d.mode)
		return n, d.zeros(n, d.leastFraction)
	}
	n = n.round(bySignificant, 1, d.mode)
	return n, d.zeros(n, max(0, d.leastSignificant-1-n.magnitude()))
}

func (d *digitOptions) zeros(n Decimal, least int) int {
	if d.stripZeros && n.fraction() == "" {
		return 0
	}
	return least
}

// written are the digits before and behind the point.
func (d *digitOptions) written(n Decimal, leastFraction int) (whole, fraction string) {
	whole, fraction = n.whole(), n.fraction()
	if short := d.leastInteger - len(whole); short > 0 {
		whole = strings.Repeat("0", short) + whole
	}
	if short := leastFraction - len(fraction); short > 0 {
		fraction += strings.Repeat("0", short)
	}
	return whole, fraction
}

func (d *digitOptions) resolved() []Resolved {
	out := []Resolved{{"minimumIntegerDigits", d.leastInteger}}
	if d.by != "fraction" {
		out = append(out, Resolved{"minimumSignificantDigits", d.leastSignificant}, Resolved{"maximumSignificantDigits", d.mostSignif})
	}
	if d.by != "significant" {
		out = append(out, Resolved{"minimumFractionDigits", d.leastFraction}, Resolved{"maximumFractionDigits", d.mostFraction})
	}
	return out
}

func (d *digitOptions) resolvedRounding() []Resolved {
	display, priority := "auto", "auto"
	if d.stripZeros {
		display = "stripIfInteger"
	}
	switch d.by {
	case "more":
		priority = "morePrecision"
	case "less":
		priority = "lessPrecision"
	}
	return []Resolved{{"roundingMode", d.mode}, {"roundingIncrement", d.increment},
		{"trailingZeroDisplay", display}, {"roundingPriority", priority}}
}
