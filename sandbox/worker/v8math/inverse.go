package v8math

import "math"

const (
	pi          = math.Pi
	piLow       = 0x1.1a62633145c07p-53
	halfPi      = pi / 2
	halfPiLow   = piLow / 2
	quarterPi   = pi / 4
	quarterLow  = piLow / 4
	threeFourth = 3 * pi / 4
)

var (
	asinTerms = [...]float64{
		0x1.5555555555555p-3, -0x1.4d61203eb6f7dp-2, 0x1.9c1550e884455p-3,
		-0x1.48228b5688f3bp-5, 0x1.9efe07501b288p-11, 0x1.23de10dfdf709p-15,
	}
	asinBelow = [...]float64{1, -0x1.33a271c8a2d4bp+1, 0x1.02ae59c598ac8p+1, -0x1.6066c1b8d0159p-1, 0x1.3b8c5b12e9282p-4}

	atanOddTerms = [...]float64{
		0x1.555555555550dp-2, 0x1.24924920083ffp-3, 0x1.745cdc54c206ep-4,
		0x1.10d66a0d03d51p-4, 0x1.97b4b24760debp-5, 0x1.0ad3ae322da11p-6,
	}
	atanEvenTerms = [...]float64{
		-0x1.999999998ebc4p-3, -0x1.c71c6fe231671p-4, -0x1.3b0f2af749a6dp-4,
		-0x1.dde2d52defd9ap-5, -0x1.2b4442c6a6c2fp-5,
	}
	// The arctangents of a half, one, one and a half and infinity, in two parts.
	atanAt    = [...]float64{0x1.dac670561bb4fp-2, quarterPi, 0x1.f730bd281f69bp-1, halfPi}
	atanAtLow = [...]float64{0x1.a2b7f222f65e2p-56, quarterLow, 0x1.007887af0cbbdp-56, halfPiLow}
)

// asinSeries is (asin(sqrt(z)) - sqrt(z)) / sqrt(z).
func asinSeries(z float64) float64 {
	return z * poly(z, asinTerms[:]) / poly(z, asinBelow[:])
}

// rootOf is a root in two parts, the first of which has an exact square.
func rootOf(z float64) (root, hi, lo float64) {
	root = math.Sqrt(z)
	hi = upper(root)
	return root, hi, (z - float64(hi*hi)) / (root + hi)
}

func acos(x float64) float64 {
	h := high(x)
	switch a := h & signless; {
	case math.IsNaN(x) || math.Abs(x) > 1:
		return math.NaN()
	case x == 1:
		return 0
	case x == -1:
		return pi
	case a <= 0x3C600000:
		return halfPi
	case a < highHalf:
		return halfPi - (x - (halfPiLow - float64(x*asinSeries(float64(x*x)))))
	case h < 0:
		z := float64((1 + x) * 0.5)
		s := math.Sqrt(z)
		w := float64(asinSeries(z)*s) - halfPiLow
		return pi - float64(2*(s+w))
	default:
		z := float64((1 - x) * 0.5)
		s, hi, lo := rootOf(z)
		w := float64(asinSeries(z)*s) + lo
		return float64(2 * (hi + w))
	}
}

func asin(x float64) float64 {
	h := high(x)
	a := h & signless
	switch {
	case math.IsNaN(x) || math.Abs(x) > 1:
		return math.NaN()
	case math.Abs(x) == 1:
		return float64(x*halfPi) + float64(x*halfPiLow)
	case a < 0x3E400000:
		return x
	case a < highHalf:
		return x + float64(x*asinSeries(float64(x*x)))
	}
	z := float64((1 - math.Abs(x)) * 0.5)
	s, hi, lo := rootOf(z)
	r := asinSeries(z)
	if a >= 0x3FEF3333 {
		return signed(halfPi-(float64(2*(s+float64(s*r)))-halfPiLow), h)
	}
	p := float64(2*s*r) - (halfPiLow - float64(2*lo))
	q := quarterPi - float64(2*hi)
	return signed(quarterPi-(p-q), h)
}

func atan(x float64) float64 {
	h := high(x)
	a := h & signless
	switch {
	case math.IsNaN(x) || a < 0x3E400000:
		return x
	case a >= 0x44100000:
		return math.Copysign(halfPi, x)
	case a < 0x3FDC0000:
		return x - float64(x*atanSeries(x))
	}
	x = math.Abs(x)
	near := 3
	switch {
	case a < 0x3FE60000:
		near, x = 0, (float64(2*x)-1)/(2+x)
	case a < 0x3FF30000:
		near, x = 1, (x-1)/(x+1)
	case a < 0x40038000:
		near, x = 2, (x-1.5)/(1+float64(1.5*x))
	default:
		x = -1 / x
	}
	return signed(atanAt[near]-((float64(x*atanSeries(x))-atanAtLow[near])-x), h)
}

// atanSeries is (x - atan(x)) / x.
func atanSeries(x float64) float64 {
	z := float64(x * x)
	w := float64(z * z)
	return float64(z*poly(w, atanOddTerms[:])) + float64(w*poly(w, atanEvenTerms[:]))
}

// Atan2 is the angle of the point (x, y).
func Atan2(y, x float64) float64 {
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN()
	}
	if value, answered := atan2Edge(y, x); answered {
		return value
	}
	z, left := 0.0, x < 0
	switch k := (high(y)&signless - high(x)&signless) >> 20; {
	case k > 60:
		z, left = halfPi, false
	case left && k < -60:
	default:
		z = atan(math.Abs(y / x))
	}
	if left {
		return signed(pi-(z-piLow), high(y))
	}
	return signed(z, high(y))
}

// atan2Edge answers on the axes and at infinity.
func atan2Edge(y, x float64) (angle float64, answered bool) {
	switch left := math.Signbit(x); {
	case x == 1:
		return atan(y), true
	case y == 0 && left || math.IsInf(x, -1) && !math.IsInf(y, 0):
		angle = pi
	case y == 0 || math.IsInf(x, 1) && !math.IsInf(y, 0):
		angle = 0
	case x == 0 || !math.IsInf(x, 0) && math.IsInf(y, 0):
		angle = halfPi
	case math.IsInf(x, 0) && left:
		angle = threeFourth
	case math.IsInf(x, 0):
		angle = quarterPi
	default:
		return 0, false
	}
	return math.Copysign(angle, y), true
}
