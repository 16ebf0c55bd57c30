// Package numbers writes numbers, and what counts: amounts, units, lists, times from
// now. It follows ICU where that is odd, since Node prints what ICU gives.
package numbers

import (
	"fmt"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl"
	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
	"github.com/bir-run/bir/sandbox/worker/intl/decimal"
)

// Format writes numbers.
type Format struct {
	locale *intl.Locale
	digits digitOptions

	style, currency, currencyDisplay, currencySign string
	unit, unitDisplay                              string
	notation, compactDisplay, grouping, sign       string
}

// New is the constructor Intl.NumberFormat.
func New(q intl.Request) (*Format, *intl.Error) {
	r := q.Reader("Intl.NumberFormat")
	f := &Format{}
	r.Matcher()
	r.Numbering()
	f.readStyle(r)
	f.notation = r.Choice("notation", "standard", "standard", "scientific", "engineering", "compact")
	least, most := 0, 3
	switch f.style {
	case "currency":
		least = currencyDigits(f.currency)
		most = least
	case "percent":
		most = 0
	}
	f.digits = readDigits(r, least, most, f.notation == "compact")
	f.compactDisplay = r.Choice("compactDisplay", "short", "short", "long")
	f.readGrouping(r)
	f.sign = r.Choice("signDisplay", "auto", "auto", "never", "always", "exceptZero", "negative")
	if r.Err != nil {
		return nil, r.Err
	}
	var err *intl.Error
	if f.locale, err = intl.Resolve(q.Locales, "nu"); err != nil {
		return nil, err
	}
	return f, f.check()
}

// check refuses what there are no data for.
func (f *Format) check() *intl.Error {
	if err := f.locale.CheckNumbering(); err != nil {
		return err
	}
	if f.style == "currency" && f.currencyDisplay == "name" && f.names() == nil {
		return intl.RangeError(fmt.Sprintf("The name of the currency %s is not available to bodies", f.currency))
	}
	if f.style == "unit" && f.unitPatterns() == nil {
		return intl.RangeError(fmt.Sprintf("The unit %s is not available to bodies", f.unit))
	}
	return nil
}

func (f *Format) readStyle(r *intl.Reader) {
	f.style = r.Choice("style", "decimal", "decimal", "percent", "currency", "unit")
	currency, given := r.Text("currency")
	switch {
	case given && (!isCode(currency)):
		r.Fail(intl.RangeError("Invalid currency code : " + currency))
	case !given && f.style == "currency":
		r.Fail(intl.TypeError("Currency code is required with currency style."))
	}
	f.currency = strings.ToUpper(currency)
	f.currencyDisplay = r.Choice("currencyDisplay", "symbol", "code", "symbol", "narrowSymbol", "name")
	f.currencySign = r.Choice("currencySign", "standard", "standard", "accounting")
	unit, given := r.Text("unit")
	switch {
	case given && !isUnit(unit):
		r.Fail(intl.RangeError(fmt.Sprintf("Invalid unit argument for Intl.NumberFormat() '%s'", unit)))
	case !given && f.style == "unit":
		r.Fail(intl.TypeError("Invalid unit argument for Intl.NumberFormat() ''"))
	}
	f.unit = unit
	f.unitDisplay = r.Choice("unitDisplay", "short", "short", "narrow", "long")
}

func (f *Format) readGrouping(r *intl.Reader) {
	f.grouping = "auto"
	if f.notation == "compact" {
		f.grouping = "min2"
	}
	yes, given := r.Truth("useGrouping")
	switch text, _ := r.Text("useGrouping"); {
	case !given || r.Err != nil || text == "false" && yes:
	case !yes:
		f.grouping = "false"
	case r.IsTrue("useGrouping"):
		f.grouping = "always"
	case text != "true":
		f.grouping = r.Choice("useGrouping", f.grouping, "min2", "auto", "always")
	}
}

func currencyDigits(code string) int {
	if n, ok := cldr.TheWorld().FractionDigits[code]; ok {
		return n
	}
	return 2
}

// Resolved are the options in effect.
func (f *Format) Resolved() []intl.Resolved {
	out := []intl.Resolved{{Name: "locale", Value: f.locale.Tag}, {Name: "numberingSystem", Value: "latn"}, {Name: "style", Value: f.style}}
	switch f.style {
	case "currency":
		out = append(out, intl.Resolved{Name: "currency", Value: f.currency}, intl.Resolved{Name: "currencyDisplay", Value: f.currencyDisplay},
			intl.Resolved{Name: "currencySign", Value: f.currencySign})
	case "unit":
		out = append(out, intl.Resolved{Name: "unit", Value: f.unit}, intl.Resolved{Name: "unitDisplay", Value: f.unitDisplay})
	}
	out = append(out, f.digits.resolved()...)
	var grouping any = f.grouping
	if f.grouping == "false" {
		grouping = false
	}
	out = append(out, intl.Resolved{Name: "useGrouping", Value: grouping}, intl.Resolved{Name: "notation", Value: f.notation})
	if f.notation == "compact" {
		out = append(out, intl.Resolved{Name: "compactDisplay", Value: f.compactDisplay})
	}
	out = append(out, intl.Resolved{Name: "signDisplay", Value: f.sign})
	return append(out, f.digits.resolvedRounding()...)
}

// Format writes n.
func (f *Format) Format(n decimal.Decimal) string { return intl.Text(f.Parts(n)) }

// Parts writes n in pieces.
func (f *Format) Parts(n decimal.Decimal) []intl.Part {
	if f.style == "percent" {
		n = n.Shift(2)
	}
	w := f.write(n)
	return w.layout(f.pattern(w))
}

// isCode tells whether a text has the form of a currency's code.
func isCode(s string) bool {
	return len(s) == 3 && strings.Trim(strings.ToUpper(s), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}
