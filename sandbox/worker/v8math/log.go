package v8math

import "math"

var (
	logTerms     = [...]float64{0x1.5555555555593p-1, 0x1.999999997fa04p-2, 0x1.2492494229359p-2, 0x1.c71c51d8e78afp-3, 0x1.7466496cb03dep-3, 0x1.39a09d078c69fp-3, 0x1.2f112df3e5244p-3}
	logOddTerms  = [...]float64{logTerms[0], logTerms[2], logTerms[4], logTerms[6]}
	logEvenTerms = [...]float64{logTerms[1], logTerms[3], logTerms[5]}
)

// logEdge answers where a logarithm is no finite number.
func logEdge(x float64) (value float64, answered bool) {
	switch {
	case x == 0:
		return math.Inf(-1), true
	case x < 0:
		return math.NaN(), true
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x, true
	}
	return 0, false
}

// exponentOf takes a positive number apart: its upper bits' fraction, an exponent, and
// the number without it, between the roots of a half and of two.
func exponentOf(x float64) (fraction int32, k int, rest float64) {
	if high(x) < 0x00100000 {
		x = float64(x * (1 << 54))
		k = -54
	}
	h := high(x)
	k += int(h>>20) - 1023
	fraction = h & 0x000FFFFF
	above := (fraction + 0x95F64) & 0x100000
	return fraction, k + int(above>>20), withHigh(x, fraction|(above^highOne))
}

// logSeries is the kernel of a logarithm of 1+f: s and the sum that s multiplies.
func logSeries(f float64) (s, sum float64) {
	s = f / (2 + f)
	z := float64(s * s)
	w := float64(z * z)
	even := float64(w * poly(w, logEvenTerms[:]))
	odd := float64(z * poly(w, logOddTerms[:]))
	return s, odd + even
}

func log(x float64) float64 {
	if value, answered := logEdge(x); answered {
		return value
	}
	fraction, exponent, x := exponentOf(x)
	f, k := x-1, float64(exponent)
	if 0x000FFFFF&(2+fraction) < 3 { // f is tiny
		r := float64(f * f * (0.5 - float64(0.33333333333333333*f)))
		switch {
		case f == 0:
			return float64(k*ln2High) + float64(k*ln2Low)
		case exponent == 0:
			return f - r
		}
		return float64(k*ln2High) - ((r - float64(k*ln2Low)) - f)
	}
	s, r := logSeries(f)
	if (fraction-0x6147A)|(0x6B851-fraction) > 0 {
		half := float64(0.5 * f * f)
		if exponent == 0 {
			return f - (half - float64(s*(half+r)))
		}
		return float64(k*ln2High) - ((half - (float64(s*(half+r)) + float64(k*ln2Low))) - f)
	}
	if exponent == 0 {
		return f - float64(s*(f-r))
	}
	return float64(k*ln2High) - ((float64(s*(f-r)) - float64(k*ln2Low)) - f)
}

func log1p(x float64) float64 {
	h := high(x)
	switch a := h & signless; {
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case x == -1:
		return math.Inf(-1)
	case x < -1:
		return math.NaN()
	case a < 0x3C900000:
		return x
	case a < 0x3E200000:
		return x - float64(x*x*0.5)
	case h > 0 && h < 0x3FDA827A, h < 0 && h <= -0x402D413C: // -0x402D413C is the word 0xBFD2BEC4
		return log1pSum(x, 0, 0, false)
	}
	f, k, c, tiny := onePlus(x)
	return log1pSum(f, k, c, tiny)
}

// onePlus is 1+x without its exponent k, and what was lost in the addition.
func onePlus(x float64) (f, k, lost float64, tiny bool) {
	u := x
	if high(x) < 0x43400000 {
		u = 1 + x
	}
	exponent := int(high(u)>>20) - 1023
	if high(x) < 0x43400000 {
		lost = x - (u - 1)
		if exponent > 0 {
			lost = 1 - (u - x)
		}
		lost /= u
	}
	fraction := high(u) & 0x000FFFFF
	if fraction < 0x6A09E {
		return withHigh(u, fraction|highOne) - 1, float64(exponent), lost, fraction == 0
	}
	f = withHigh(u, fraction|highHalf) - 1
	return f, float64(exponent + 1), lost, (0x00100000-fraction)>>2 == 0
}

func log1pSum(f, k, lost float64, tiny bool) float64 {
	half := float64(0.5 * f * f)
	if tiny {
		if f == 0 {
			return float64(k*ln2High) + (lost + float64(k*ln2Low))
		}
		r := float64(half * (1 - float64(0.66666666666666666*f)))
		if k == 0 {
			return f - r
		}
		return float64(k*ln2High) - ((r - (float64(k*ln2Low) + lost)) - f)
	}
	s := f / (2 + f)
	z := float64(s * s)
	r := float64(z * poly(z, logTerms[:]))
	if k == 0 {
		return f - (half - float64(s*(half+r)))
	}
	return float64(k*ln2High) - ((half - (float64(s*(half+r)) + (float64(k*ln2Low) + lost))) - f)
}

const (
	inverseLn2High = 0x1.715476520p+0
	inverseLn2Low  = 0x1.705fc2eefa200p-33
	inverseLn10    = 0x1.bcb7b1526e50ep-2
	log10of2High   = 0x1.34413509f6000p-2
	log10of2Low    = 0x1.9fef311f12b36p-42
)

func log2(x float64) float64 {
	if value, answered := logEdge(x); answered || x == 1 {
		return value
	}
	_, exponent, x := exponentOf(x)
	k, f := float64(exponent), x-1
	half := float64(0.5 * f * f)
	s, sum := logSeries(f)
	r := float64(s * (half + sum))
	hi := upper(f - half)
	lo := (f - hi) - half + r
	valueHigh := float64(hi * inverseLn2High)
	valueLow := float64((lo+hi)*inverseLn2Low) + float64(lo*inverseLn2High)
	sum = k + valueHigh
	valueLow += (k - sum) + valueHigh
	return valueLow + sum
}

func log10(x float64) float64 {
	if value, answered := logEdge(x); answered || x == 1 {
		return value
	}
	k := 0
	if high(x) < 0x00100000 {
		x = float64(x * (1 << 54))
		k = -54
	}
	h := high(x)
	k += int(h>>20) - 1023
	below := 0
	if k < 0 {
		below = 1
	}
	y := float64(k + below)
	x = withHigh(x, h&0x000FFFFF|int32(0x3FF-below)<<20)
	z := float64(y*log10of2Low) + float64(inverseLn10*log(x))
	return z + float64(y*log10of2High)
}
