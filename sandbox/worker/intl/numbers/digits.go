package numbers

import (
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/decimal"
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
func readDigits(r *intl.Reader, leastFraction, mostFraction int, compact bool) digitOptions {
	d := digitOptions{leastInteger: 1}
	if n := r.Number("minimumIntegerDigits", 1, 21); n > 0 {
		d.leastInteger = n
	}
	hasFD := r.Has("minimumFractionDigits", "maximumFractionDigits")
	hasSD := r.Has("minimumSignificantDigits", "maximumSignificantDigits")
	d.increment = 1
	if n := r.Number("roundingIncrement", 1, 5000); n > 0 {
		d.increment = n
		if !slices.Contains(increments, n) {
			r.Fail(intl.RangeError("roundingIncrement value is out of range."))
		}
	}
	d.mode = r.Choice("roundingMode", "halfExpand", roundingModes...)
	d.priority = r.Choice("roundingPriority", "auto", "auto", "morePrecision", "lessPrecision")
	d.stripZeros = r.Choice("trailingZeroDisplay", "auto", "auto", "stripIfInteger") == "stripIfInteger"
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
		readSignificant(r, &d, hasSD)
	}
	if needFD {
		readFractions(r, &d, hasFD, leastFraction, mostFraction)
	}
	settle(r, &d, needSD, needFD)
	return d
}

func readSignificant(r *intl.Reader, d *digitOptions, given bool) {
	d.leastSignificant, d.mostSignif = 1, 21
	if !given {
		return
	}
	if n := r.Number("minimumSignificantDigits", 1, 21); n > 0 {
		d.leastSignificant = n
	}
	if n := r.Number("maximumSignificantDigits", d.leastSignificant, 21); n > 0 {
		d.mostSignif = n
	}
}

func readFractions(r *intl.Reader, d *digitOptions, given bool, least, most int) {
	d.leastFraction, d.mostFraction = least, most
	if !given {
		return
	}
	lf := r.Number("minimumFractionDigits", 0, 100)
	mf := r.Number("maximumFractionDigits", 0, 100)
	switch {
	case lf < 0 && mf < 0:
		return
	case lf < 0:
		lf = min(least, mf)
	case mf < 0:
		mf = max(most, lf)
	case lf > mf:
		r.Fail(intl.RangeError("maximumFractionDigits value is out of range."))
	}
	d.leastFraction, d.mostFraction = lf, mf
}

// settle decides which limits count.
func settle(r *intl.Reader, d *digitOptions, needSD, needFD bool) {
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
		r.Fail(intl.TypeError("roundingIncrement value is invalid."))
	} else if d.mostFraction != d.leastFraction {
		r.Fail(intl.RangeError("roundingIncrement value is out of range."))
	}
}

// round rounds n and gives the least number of fraction digits to write.
func (d *digitOptions) round(n decimal.Decimal) (decimal.Decimal, int) {
	// Powers of ten of the last digit, by either limit.
	byFraction := -d.mostFraction
	bySignificant := n.Magnitude() - d.mostSignif + 1
	significant := d.by == "significant"
	switch d.by {
	case "more":
		significant = bySignificant <= byFraction
	case "less":
		significant = bySignificant > byFraction
	}
	if !significant {
		n = n.Round(byFraction, d.increment, d.mode)
		return n, d.zeros(n, d.leastFraction)
	}
	n = n.Round(bySignificant, 1, d.mode)
	return n, d.zeros(n, max(0, d.leastSignificant-1-n.Magnitude()))
}

func (d *digitOptions) zeros(n decimal.Decimal, least int) int {
	if d.stripZeros && n.Fraction() == "" {
		return 0
	}
	return least
}

// written are the digits before and behind the point.
func (d *digitOptions) written(n decimal.Decimal, leastFraction int) (whole, fraction string) {
	whole, fraction = n.Whole(), n.Fraction()
	if short := d.leastInteger - len(whole); short > 0 {
		whole = strings.Repeat("0", short) + whole
	}
	if short := leastFraction - len(fraction); short > 0 {
		fraction += strings.Repeat("0", short)
	}
	return whole, fraction
}

func (d *digitOptions) resolved() []intl.Resolved {
	out := []intl.Resolved{{Name: "minimumIntegerDigits", Value: d.leastInteger}}
	if d.by != "fraction" {
		out = append(out, intl.Resolved{Name: "minimumSignificantDigits", Value: d.leastSignificant}, intl.Resolved{Name: "maximumSignificantDigits", Value: d.mostSignif})
	}
	if d.by != "significant" {
		out = append(out, intl.Resolved{Name: "minimumFractionDigits", Value: d.leastFraction}, intl.Resolved{Name: "maximumFractionDigits", Value: d.mostFraction})
	}
	return out
}

func (d *digitOptions) resolvedRounding() []intl.Resolved {
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
	return []intl.Resolved{{Name: "roundingMode", Value: d.mode}, {Name: "roundingIncrement", Value: d.increment},
		{Name: "trailingZeroDisplay", Value: display}, {Name: "roundingPriority", Value: priority}}
}
