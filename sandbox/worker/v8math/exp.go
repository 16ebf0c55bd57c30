package v8math

import "math"

const (
	ln2          = 0x1.62e42fefa39efp-1
	ln2High      = 0x1.62e42feep-1 // with zeros enough to be multiplied by an exponent
	ln2Low       = 0x1.a39ef35793c76p-33
	inverseLn2   = 0x1.71547652b82fep+0
	expOverflow  = 0x1.62e42fefa39efp+9
	expUnderflow = -0x1.74910d52d3051p+9
	highHalfLn2  = 0x3FD62E42
	highLn2x1p5  = 0x3FF0A2B2
)

var (
	expTerms = [...]float64{
		0x1.555555555553ep-3, -0x1.6c16c16bebd93p-9, 0x1.1566aaf25de2cp-14,
		-0x1.bbd41c5d26bf1p-20, 0x1.6376972bea4d0p-25,
	}
	expm1Terms = [...]float64{
		1, -0x1.11111111110f4p-5, 0x1.a01a019fe5585p-10, -0x1.4ce199eaadbb7p-14,
		0x1.0cfca86e65239p-18, -0x1.afdb76e09c32dp-23,
	}
)

func exp(x float64) float64 {
	h := high(x) & signless
	switch {
	case math.IsNaN(x):
		return x
	case x > expOverflow:
		return math.Inf(1)
	case x < expUnderflow:
		return 0
	case x == 1:
		return math.E // the algorithm misses it by one digit, and V8 mends that
	case h < 0x3E300000:
		return 1 + x
	}
	k, hi, lo := 0, x, 0.0
	if h > highHalfLn2 {
		k, hi, lo = withoutLn2(x, h)
	}
	x = hi - lo
	t := float64(x * x)
	c := x - float64(t*poly(t, expTerms[:]))
	if k == 0 {
		return 1 - (x*c/(c-2) - x)
	}
	return scaled(1-((lo-x*c/(2-c))-hi), k)
}

// withoutLn2 gives k and a number in two parts with x = k*ln2 + hi - lo.
func withoutLn2(x float64, h int32) (k int, hi, lo float64) {
	switch {
	case h >= highLn2x1p5:
		k = int(float64(inverseLn2*x) + math.Copysign(0.5, x))
		return k, x - float64(float64(k)*ln2High), float64(float64(k) * ln2Low)
	case x < 0:
		return -1, x + ln2High, -ln2Low
	default:
		return 1, x - ln2High, ln2Low
	}
}

// scaled is y times 2 to the k, rounded once, where y is near 1.
func scaled(y float64, k int) float64 {
	switch {
	case k == 1024:
		return float64(y * 2 * power2(1023))
	case k >= -1021:
		return float64(y * power2(k))
	default:
		return float64(y * power2(k+1000) * power2(-1000))
	}
}

func expm1(x float64) float64 {
	h := high(x) & signless
	switch {
	case math.IsNaN(x):
		return x
	case x > expOverflow:
		return math.Inf(1)
	case x < 0 && h >= 0x4043687A: // below -56 ln2
		return -1
	case h < 0x3C900000:
		return x
	}
	k, c := 0, 0.0
	if h > highHalfLn2 {
		var hi, lo float64
		k, hi, lo = withoutLn2(x, h)
		x = hi - lo
		c = (hi - x) - lo
	}
	half := float64(0.5 * x)
	square := float64(x * half)
	r := poly(square, expm1Terms[:])
	t := 3 - float64(r*half)
	e := float64(square * ((r - t) / (6 - float64(x*t))))
	if k == 0 {
		return x - (float64(x*e) - square)
	}
	e = float64(x*(e-c)) - c
	return scaledMinus1(x, e-square, k)
}

// scaledMinus1 is 2^k * (1 + x - e) - 1, with the fewest roundings for each k.
func scaledMinus1(x, e float64, k int) float64 {
	switch {
	case k == -1:
		return float64(0.5*(x-e)) - 0.5
	case k == 1 && x < -0.25:
		return float64(-2 * (e - (x + 0.5)))
	case k == 1:
		return 1 + float64(2*(x-e))
	case k <= -2 || k > 56:
		return scaled(1-(e-x), k) - 1
	case k < 20:
		return float64(((1 - power2(-k)) - (e - x)) * power2(k))
	default:
		return float64(((x - (e + power2(-k))) + 1) * power2(k))
	}
}
