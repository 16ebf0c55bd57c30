package intl

import (
	"fmt"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// NumberFormat writes numbers.
type NumberFormat struct {
	locale *Locale
	digits digitOptions

	style, currency, currencyDisplay, currencySign string
	unit, unitDisplay                              string
	notation, compactDisplay, grouping, sign       string
}

// NewNumberFormat is the constructor Intl.NumberFormat.
func NewNumberFormat(q Request) (*NumberFormat, *Error) {
	r := q.reader("Intl.NumberFormat")
	f := &NumberFormat{}
	r.matcher()
	r.numbering()
	f.readStyle(r)
	f.notation = r.choice("notation", "standard", "standard", "scientific", "engineering", "compact")
	least, most := 0, 3
	switch f.style {
	case "currency":
		least = currencyDigits(f.currency)
		most = least
	case "percent":
		most = 0
	}
	f.digits = r.digits(least, most, f.notation == "compact")
	f.compactDisplay = r.choice("compactDisplay", "short", "short", "long")
	f.readGrouping(r)
	f.sign = r.choice("signDisplay", "auto", "auto", "never", "always", "exceptZero", "negative")
	if r.err != nil {
		return nil, r.err
	}
	var err *Error
	if f.locale, err = Resolve(q.Locales, "nu"); err != nil {
		return nil, err
	}
	return f, f.check()
}

// check refuses what there are no data for.
func (f *NumberFormat) check() *Error {
	if system := f.locale.extensions["nu"]; system != "" && system != "latn" {
		return noNumbering(system)
	}
	if f.style == "currency" && f.currencyDisplay == "name" && f.names() == nil {
		return rangeError(fmt.Sprintf("The name of the currency %s is not available to bodies", f.currency))
	}
	if f.style == "unit" && f.unitPatterns() == nil {
		return rangeError(fmt.Sprintf("The unit %s is not available to bodies", f.unit))
	}
	return nil
}

// numbering reads the option; digits other than 0 to 9 are not to be had.
func (r *reader) numbering() {
	if system, ok := r.text("numberingSystem"); ok && system != "latn" {
		r.fail(noNumbering(system))
	}
}

func noNumbering(system string) *Error {
	return rangeError(fmt.Sprintf("The numbering system %s is not available to bodies", system))
}

func (f *NumberFormat) readStyle(r *reader) {
	f.style = r.choice("style", "decimal", "decimal", "percent", "currency", "unit")
	currency, given := r.text("currency")
	switch {
	case given && (len(currency) != 3 || !isLetters(currency)):
		r.fail(rangeError("Invalid currency code : " + currency))
	case !given && f.style == "currency":
		r.fail(typeError("Currency code is required with currency style."))
	}
	f.currency = strings.ToUpper(currency)
	f.currencyDisplay = r.choice("currencyDisplay", "symbol", "code", "symbol", "narrowSymbol", "name")
	f.currencySign = r.choice("currencySign", "standard", "standard", "accounting")
	unit, given := r.text("unit")
	switch {
	case given && !isUnit(unit):
		r.fail(rangeError(fmt.Sprintf("Invalid unit argument for Intl.NumberFormat() '%s'", unit)))
	case !given && f.style == "unit":
		r.fail(typeError("Invalid unit argument for Intl.NumberFormat() ''"))
	}
	f.unit = unit
	f.unitDisplay = r.choice("unitDisplay", "short", "short", "narrow", "long")
}

func (f *NumberFormat) readGrouping(r *reader) {
	f.grouping = "auto"
	if f.notation == "compact" {
		f.grouping = "min2"
	}
	yes, given := r.truth("useGrouping")
	switch text, _ := r.text("useGrouping"); {
	case !given || r.err != nil || text == "false" && yes:
	case !yes:
		f.grouping = "false"
	case r.from.IsTrue("useGrouping"):
		f.grouping = "always"
	case text != "true":
		f.grouping = r.choice("useGrouping", f.grouping, "min2", "auto", "always")
	}
}

func currencyDigits(code string) int {
	if n, ok := cldr.TheWorld().FractionDigits[code]; ok {
		return n
	}
	return 2
}

// Resolved are the options in effect.
func (f *NumberFormat) Resolved() []Resolved {
	out := []Resolved{{"locale", f.locale.Tag}, {"numberingSystem", "latn"}, {"style", f.style}}
	switch f.style {
	case "currency":
		out = append(out, Resolved{"currency", f.currency}, Resolved{"currencyDisplay", f.currencyDisplay},
			Resolved{"currencySign", f.currencySign})
	case "unit":
		out = append(out, Resolved{"unit", f.unit}, Resolved{"unitDisplay", f.unitDisplay})
	}
	out = append(out, f.digits.resolved()...)
	var grouping any = f.grouping
	if f.grouping == "false" {
		grouping = false
	}
	out = append(out, Resolved{"useGrouping", grouping}, Resolved{"notation", f.notation})
	if f.notation == "compact" {
		out = append(out, Resolved{"compactDisplay", f.compactDisplay})
	}
	out = append(out, Resolved{"signDisplay", f.sign})
	return append(out, f.digits.resolvedRounding()...)
}

// Format writes n.
func (f *NumberFormat) Format(n Decimal) string { return Text(f.Parts(n)) }

// Parts writes n in pieces.
func (f *NumberFormat) Parts(n Decimal) []Part {
	if f.style == "percent" {
		n = n.shift(2)
	}
	w := f.write(n)
	return w.layout(f.pattern(w))
}
