package v8math

import "math"

const (
	// Half of pi in parts of 33 bits and what each leaves.
	pio2First      = 0x1.921fb544p0
	pio2FirstRest  = 0x1.0b4611a626331p-34
	pio2Second     = 0x1.0b4611a6p-34
	pio2SecondRest = 0x1.3198a2e037073p-69
	pio2Third      = 0x1.3198a2ep-69
	pio2ThirdRest  = 0x1.b839a252049c1p-104
	highQuarterPi  = 0x3FE921FB
	highHalfPi     = 0x3FF921FB
	inverseHalfPi  = 2 / math.Pi
)

// remainder gives n and two parts with x = n*pi/2 + hi + lo, as fdlibm finds them.
func remainder(x float64, h int32) (n int, hi, lo float64) {
	a := math.Abs(x)
	switch {
	case h < 0x4002D97C:
		n, hi, lo = nearRemainder(a, h)
	case h <= 0x413921FB:
		n, hi, lo = middleRemainder(a, h)
	default:
		n, hi, lo = farRemainder(a, h)
	}
	if x < 0 {
		return -n, -hi, -lo
	}
	return n, hi, lo
}

func nearRemainder(a float64, h int32) (n int, hi, lo float64) {
	z, rest := a-pio2First, pio2FirstRest
	if h == highHalfPi {
		z, rest = z-pio2Second, pio2SecondRest
	}
	hi = z - rest
	return 1, hi, (z - hi) - rest
}

// middleRemainder takes as many parts of pi as the cancellation asks for.
func middleRemainder(a float64, h int32) (n int, hi, lo float64) {
	n = int(float64(a*inverseHalfPi) + 0.5)
	k := float64(n)
	r, w := a-float64(k*pio2First), float64(k*pio2FirstRest)
	hi = r - w
	lost := func() int32 { return h>>20 - high(hi)>>20&0x7FF }
	if n >= 32 || h == high(float64(k*halfPi)) {
		for _, part := range []struct {
			more         int32
			next, beyond float64
		}{{16, pio2Second, pio2SecondRest}, {49, pio2Third, pio2ThirdRest}} {
			if lost() <= part.more {
				break
			}
			before := r
			w = float64(k * part.next)
			r = before - w
			w = float64(k*part.beyond) - ((before - r) - w)
			hi = r - w
		}
	}
	return n, hi, (r - hi) - w
}
