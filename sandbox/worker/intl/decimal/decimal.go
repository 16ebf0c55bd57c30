// Package decimal holds numbers as their digits, so that they are rounded as a person
// would round what is printed, and none is lost of those that no float64 holds. It
// knows nothing of how numbers are written.
package decimal

import (
	"math"
	"strconv"
	"strings"
)

// Decimal is a number as its digits: 0.d1d2d3… times 10 to the power of point.
type Decimal struct {
	Negative      bool
	digits        string // without zeros in front or at the end
	point         int
	NaN, Infinite bool // not a number; infinite
}

// FromFloat is the number that JavaScript would print for f.
func FromFloat(f float64) Decimal {
	d := Decimal{Negative: math.Signbit(f), NaN: math.IsNaN(f), Infinite: math.IsInf(f, 0)}
	if d.NaN || d.Infinite || f == 0 {
		return d
	}
	text := strconv.FormatFloat(math.Abs(f), 'e', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	power, _ := strconv.Atoi(exponent)
	d.digits = strings.TrimRight(strings.Replace(mantissa, ".", "", 1), "0")
	d.point = power + 1
	return d
}

// Parse reads a number in decimal, with a fraction and an exponent if need be.
// It is exact, where a float64 would not be.
func Parse(text string) (Decimal, bool) {
	var d Decimal
	rest := text
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.Negative = rest[0] == '-'
		rest = rest[1:]
	}
	if rest == "Infinity" {
		d.Infinite = true
		return d, true
	}
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(rest), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if whole+fraction == "" || whole != "" && !isDigits(whole) || fraction != "" && !isDigits(fraction) {
		return d, false
	}
	power := 0
	if scientific {
		var err error
		if power, err = strconv.Atoi(exponent); err != nil || power > 1e6 || power < -1e6 {
			return d, false
		}
	}
	d.set(whole+fraction, len(whole)+power)
	return d, true
}

// set takes digits that may have zeros around them.
func (d *Decimal) set(digits string, point int) {
	trimmed := strings.TrimLeft(digits, "0")
	d.point = point - (len(digits) - len(trimmed))
	d.digits = strings.TrimRight(trimmed, "0")
	if d.digits == "" {
		d.point = 0
	}
}

// IsZero tells whether the number is 0 or -0.
func (d Decimal) IsZero() bool { return d.digits == "" && !d.NaN && !d.Infinite }

// Magnitude is the power of ten of the first digit.
func (d Decimal) Magnitude() int {
	if d.IsZero() {
		return 0
	}
	return d.point - 1
}

// Shift multiplies by 10 to a power.
func (d Decimal) Shift(power int) Decimal {
	if d.digits != "" {
		d.point += power
	}
	return d
}

// Whole are the digits before the point, at least one.
func (d Decimal) Whole() string {
	if d.point <= 0 || d.digits == "" {
		return "0"
	}
	if d.point >= len(d.digits) {
		return d.digits + strings.Repeat("0", d.point-len(d.digits))
	}
	return d.digits[:d.point]
}

// Fraction are the digits behind the point.
func (d Decimal) Fraction() string {
	if d.digits == "" || d.point >= len(d.digits) {
		return ""
	}
	if d.point < 0 {
		return strings.Repeat("0", -d.point) + d.digits
	}
	return d.digits[d.point:]
}

// Round keeps the digits down to 10 to a power, in steps of increment of them.
func (d Decimal) Round(power, increment int, mode string) Decimal {
	if d.NaN || d.Infinite || d.digits == "" {
		return d
	}
	kept := d.point - power // digits that stay
	if increment == 1 && kept >= len(d.digits) {
		return d
	}
	head, tail := "0", d.digits
	if kept > 0 {
		head = d.digits[:min(kept, len(d.digits))] + strings.Repeat("0", max(0, kept-len(d.digits)))
		tail = d.digits[min(kept, len(d.digits)):]
	}
	steps, left := divide(head, increment)
	half := compareHalf(left, strings.Repeat("0", max(0, -kept))+tail, increment)
	if roundsUp(mode, d.Negative, half, (steps[len(steps)-1]-'0')%2 == 1) {
		steps = addOne(steps)
	}
	digits := multiply(steps, increment)
	d.set(digits, len(digits)+power)
	return d
}

// The place of what is cut off, seen from the middle of a step.
const (
	nothing = iota
	belowHalf
	atHalf
	aboveHalf
)

// compareHalf places left (units of the last digit) and the fraction behind it within
// a step of increment.
func compareHalf(left int, fraction string, increment int) int {
	fraction = strings.TrimRight(fraction, "0")
	switch {
	case left == 0 && fraction == "":
		return nothing
	case 2*left > increment || 2*left == increment && fraction != "":
		return aboveHalf
	case 2*left == increment:
		return atHalf
	case increment%2 == 1 && 2*left == increment-1:
		return 2 + strings.Compare(fraction, "5")
	}
	return belowHalf
}

func roundsUp(mode string, negative bool, half int, odd bool) bool {
	if half == nothing {
		return false
	}
	switch mode {
	case "ceil":
		return !negative
	case "floor":
		return negative
	case "expand":
		return true
	case "trunc":
		return false
	}
	if half != atHalf {
		return half == aboveHalf
	}
	switch mode {
	case "halfCeil":
		return !negative
	case "halfFloor":
		return negative
	case "halfTrunc":
		return false
	case "halfEven":
		return odd
	}
	return true // halfExpand
}

func divide(digits string, by int) (steps string, left int) {
	if by == 1 {
		return digits, 0
	}
	out := make([]byte, len(digits))
	for i := range len(digits) {
		left = left*10 + int(digits[i]-'0')
		out[i] = byte('0' + left/by)
		left %= by
	}
	return string(out), left
}

func addOne(digits string) string {
	out := []byte(digits)
	for i := len(out) - 1; i >= 0; i-- {
		if out[i] != '9' {
			out[i]++
			return string(out)
		}
		out[i] = '0'
	}
	return "1" + string(out)
}

func multiply(digits string, by int) string {
	if by == 1 {
		return digits
	}
	var out []byte
	carry := 0
	for i := len(digits) - 1; i >= 0; i-- {
		carry += int(digits[i]-'0') * by
		out = append(out, byte('0'+carry%10))
		carry /= 10
	}
	for ; carry > 0; carry /= 10 {
		out = append(out, byte('0'+carry%10))
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }
