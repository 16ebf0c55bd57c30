package worker

import (
	"math"
	"strings"

	"github.com/dop251/goja"
)

// installRadix has Number.prototype.toString write numbers in other bases as V8
// does, whose last digits differ from goja's.
func (ev *evaluation) installRadix() {
	prototype := ev.vm.Get("Number").(*goja.Object).Get("prototype").(*goja.Object)
	original, _ := goja.AssertFunction(prototype.Get("toString"))
	hide(prototype, "toString", native(ev.vm, "toString", 1, func(c goja.FunctionCall) goja.Value {
		// The original checks the receiver and the base, and writes what is whole and
		// exact or has no digits.
		text, err := original(c.This, c.Arguments...)
		if err != nil {
			panic(err)
		}
		base := c.Argument(0)
		if goja.IsUndefined(base) || base.ToInteger() == 10 || c.This == goja.Value(prototype) {
			return text
		}
		number := c.This.ToFloat()
		if math.IsNaN(number) || math.IsInf(number, 0) || number == math.Trunc(number) && math.Abs(number) < 1<<53 {
			return text
		}
		return ev.vm.ToValue(radixText(number, int(base.ToInteger())))
	}))
}

const radixDigits = "0123456789abcdefghijklmnopqrstuvwxyz"

// radixText writes as many digits as tell a number from its neighbours, rounding
// the last one; digits of a whole part beyond a double's precision are zeros.
func radixText(number float64, base int) string {
	sign := ""
	if number < 0 {
		sign, number = "-", -number
	}
	whole := math.Floor(number)
	fraction := number - whole
	delta := max(0.5*(math.Nextafter(number, math.Inf(1))-number), math.SmallestNonzeroFloat64)
	var digits []byte
	carried := false
	if fraction >= delta {
		digits, carried = fractionDigits(fraction, delta, base)
		if carried {
			whole++
		}
	}
	text := sign + wholeText(whole, base)
	if len(digits) == 0 {
		return text
	}
	out := make([]byte, len(digits))
	for i, d := range digits {
		out[i] = radixDigits[d]
	}
	return text + "." + string(out)
}

func fractionDigits(fraction, delta float64, base int) (digits []byte, carried bool) {
	for {
		fraction = float64(fraction * float64(base)) // rounded, not fused with what follows
		delta = float64(delta * float64(base))
		digit := int(fraction)
		digits = append(digits, byte(digit))
		fraction -= float64(digit)
		if fraction > 0.5 || fraction == 0.5 && digit&1 == 1 {
			if fraction+delta > 1 {
				return roundUp(digits, base)
			}
		}
		if fraction < delta {
			return digits, false
		}
	}
}

func roundUp(digits []byte, base int) ([]byte, bool) {
	for len(digits) > 0 {
		last := len(digits) - 1
		if int(digits[last])+1 < base {
			digits[last]++
			return digits, false
		}
		digits = digits[:last]
	}
	return nil, true
}

func wholeText(whole float64, base int) string {
	var out []byte
	for exponent(whole/float64(base)) > 0 { // the digit that comes next is beyond the precision
		whole /= float64(base)
		out = append(out, '0')
	}
	for {
		rest := math.Mod(whole, float64(base))
		out = append(out, radixDigits[int(rest)])
		if whole = (whole - rest) / float64(base); whole <= 0 {
			break
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

// exponent is that of a double whose 53 bits are read as an integer.
func exponent(number float64) int {
	return int(math.Float64bits(number)>>52&0x7FF) - 1075
}

// writesRadix tells whether a source may write a number in another base.
func writesRadix(source string) bool {
	for rest := source; ; {
		_, after, found := strings.Cut(rest, "toString")
		if !found {
			return false
		}
		if len(after) < 2 || after[0] != '(' || after[1] != ')' {
			return true
		}
		rest = after
	}
}
