package v8math

import "math"

const (
	hyperbolicOverflow = 710.4758600739439
	high22             = 0x40360000
	high2p28           = 0x41B00000
	highTiny           = 0x3E300000 // 2^-28, below which x is its own sine
	highOverflow       = 0x40862E42 // the upper half of the largest logarithm
)

func sinh(x float64) float64 {
	a, h := math.Abs(x), math.Copysign(0.5, x)
	switch {
	case a < 0x1p-28 || math.IsNaN(x):
		return x
	case a < 1:
		t := expm1(a)
		return float64(h * (float64(2*t) - t*t/(t+1)))
	case a < 22:
		t := expm1(a)
		return float64(h * (t + t/(t+1)))
	case a < 709.7822265625:
		return float64(h * exp(a))
	case a <= hyperbolicOverflow:
		w := exp(float64(0.5 * a))
		return float64(h * w * w)
	default:
		return float64(x * 1e307)
	}
}

func cosh(x float64) float64 {
	a := math.Abs(x)
	switch h := high(a); {
	case h < highHalfLn2+1:
		t := expm1(a)
		w := 1 + t
		if h < 0x3C800000 {
			return w
		}
		return 1 + t*t/(w+w)
	case h < high22:
		t := exp(a)
		return float64(0.5*t) + 0.5/t
	case h < highOverflow:
		return float64(0.5 * exp(a))
	case a <= hyperbolicOverflow:
		w := exp(float64(0.5 * a))
		return float64(0.5 * w * w)
	case math.IsNaN(x):
		return x
	default:
		return math.Inf(1)
	}
}

func tanh(x float64) float64 {
	a, z := math.Abs(x), 1.0
	switch h := high(a); {
	case math.IsNaN(x) || h < highTiny:
		return x
	case h < highOne:
		t := expm1(float64(-2 * a))
		z = -t / (t + 2)
	case h < high22:
		z = 1 - 2/(expm1(float64(2*a))+2)
	}
	return signed(z, high(x))
}

func asinh(x float64) float64 {
	a, w := math.Abs(x), 0.0
	switch h := high(a); {
	case h >= highInfinite || h < highTiny:
		return x
	case h > high2p28:
		w = log(a) + ln2
	case h > 0x40000000:
		w = log(float64(2*a) + 1/(math.Sqrt(float64(x*x)+1)+a))
	default:
		t := float64(x * x)
		w = log1p(a + t/(1+math.Sqrt(1+t)))
	}
	return signed(w, high(x))
}

func acosh(x float64) float64 {
	switch h := high(x); {
	case x < 1:
		return math.NaN()
	case math.IsNaN(x) || math.IsInf(x, 1):
		return x
	case h >= high2p28:
		return log(x) + ln2
	case x == 1:
		return 0
	case h > 0x40000000:
		t := float64(x * x)
		return log(float64(2*x) - 1/(x+math.Sqrt(t-1)))
	default:
		t := x - 1
		return log1p(t + math.Sqrt(float64(2*t)+float64(t*t)))
	}
}

func atanh(x float64) float64 {
	a, t := math.Abs(x), 0.0
	switch h := high(a); {
	case math.IsNaN(x) || a > 1:
		return math.NaN()
	case a == 1:
		return math.Inf(int(math.Copysign(1, x)))
	case h < highTiny:
		return x
	case h < highHalf:
		t = a + a
		t = float64(0.5 * log1p(t+t*a/(1-a)))
	default:
		t = float64(0.5 * log1p((a+a)/(1-a)))
	}
	return signed(t, high(x))
}
