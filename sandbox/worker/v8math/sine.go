package v8math

import "math"

var (
	sineFirst = -0x1.5555555555549p-3
	sineTerms = [...]float64{
		0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13, 0x1.71de357b1fe7dp-19,
		-0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33,
	}
	cosineTerms = [...]float64{
		0x1.555555555554cp-5, -0x1.6c16c16c15177p-10, 0x1.a01a019cb1590p-16,
		-0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29, -0x1.8fae9be8838d4p-37,
	}
)

func sin(x float64) float64 {
	return onCircle(x, 0)
}

func cos(x float64) float64 {
	return onCircle(x, 1)
}

// onCircle is the sine of x and some quarters of a turn.
func onCircle(x float64, quarters int) float64 {
	h := high(x) & signless
	if h >= highInfinite {
		return math.NaN()
	}
	n, hi, lo, reduced := 0, x, 0.0, h > highQuarterPi
	if reduced {
		n, hi, lo = remainder(x, h)
	}
	switch (n + quarters) & 3 {
	case 0:
		return sinOf(hi, lo, reduced)
	case 1:
		return cosOf(hi, lo)
	case 2:
		return -sinOf(hi, lo, reduced)
	default:
		return -cosOf(hi, lo)
	}
}

// sinOf is the sine of x+dx, which is at most a quarter of pi, and of x alone where it
// was so from the start.
func sinOf(x, dx float64, reduced bool) float64 {
	if high(x)&signless < 0x3E400000 {
		return x
	}
	z := float64(x * x)
	v := float64(z * x)
	r := poly(z, sineTerms[:])
	if !reduced {
		return x + float64(v*(sineFirst+float64(z*r)))
	}
	return x - ((float64(z*(float64(0.5*dx)-float64(v*r))) - dx) - float64(v*sineFirst))
}

// cosOf is the cosine of x+dx, which is at most a quarter of pi.
func cosOf(x, dx float64) float64 {
	h := high(x) & signless
	if h < 0x3E400000 {
		return 1
	}
	z := float64(x * x)
	half := float64(0.5 * z)
	r := float64(z*float64(z*poly(z, cosineTerms[:]))) - float64(x*dx)
	switch {
	case h < 0x3FD33333:
		return 1 - (half - r)
	case h > 0x3FE90000:
		const quarter = 0.28125
		return (1 - quarter) - ((half - quarter) - r)
	default:
		quarter := number(h-0x00200000, 0)
		return (1 - quarter) - ((half - quarter) - r)
	}
}
