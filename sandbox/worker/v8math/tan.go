package v8math

import "math"

var (
	tanFirst    = 0x1.5555555555563p-2
	tanOddTerms = [...]float64{
		0x1.111111110fe7ap-3, 0x1.664f48406d637p-6, 0x1.d6d22c9560328p-9,
		0x1.344d8f2f26501p-11, 0x1.47e88a03792a6p-14, -0x1.375cbdb605373p-16,
	}
	tanEvenTerms = [...]float64{
		0x1.ba1ba1bb341fep-5, 0x1.226e3e96e8493p-7, 0x1.7dbc8fee08315p-10,
		0x1.026f71a8d1068p-12, 0x1.2b80f32f0a7e9p-14, 0x1.b2a7074bf7ad4p-16,
	}
)

func tan(x float64) float64 {
	switch h := high(x) & signless; {
	case h <= highQuarterPi:
		return tanOf(x, 0, false)
	case h >= highInfinite:
		return math.NaN()
	default:
		n, hi, lo := remainder(x, h)
		return tanOf(hi, lo, n&1 == 1)
	}
}

// tanOf is the tangent of x+dx, or its inverse with the other sign.
func tanOf(x, dx float64, inverse bool) float64 {
	h := high(x)
	a := h & signless
	if a < 0x3E300000 && !inverse {
		return x
	}
	steep := a >= 0x3FE59428
	if steep {
		if h < 0 {
			x, dx = -x, -dx
		}
		x, dx = (quarterPi-x)+(quarterLow-dx), 0
	}
	z := float64(x * x)
	w := float64(z * z)
	r := poly(w, tanOddTerms[:])
	v := float64(z * poly(w, tanEvenTerms[:]))
	s := float64(z * x)
	r = dx + float64(z*(float64(s*(r+v))+dx))
	r += float64(tanFirst * s)
	if a < 0x3E300000 {
		r = dx
	}
	w = x + r
	switch {
	case steep:
		v = 1
		if inverse {
			v = -1
		}
		return float64(signed(1, h) * (v - float64(2*(x-(w*w/(w+v)-r)))))
	case inverse:
		return inverseOf(w, r-(upper(w)-x))
	default:
		return w
	}
}

// inverseOf is -1/w, where v is what the upper half of w leaves out.
func inverseOf(w, v float64) float64 {
	a := -1 / w
	t := upper(a)
	s := 1 + float64(t*upper(w))
	return t + float64(a*(s+float64(t*v)))
}
