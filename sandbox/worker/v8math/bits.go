package v8math

import "math"

// signless takes the sign off a high word.
const signless = 0x7FFFFFFF

// The thresholds of the algorithms are compared with the upper half of a number.
const (
	highOne      = 0x3FF00000
	highHalf     = 0x3FE00000
	highInfinite = 0x7FF00000
)

func high(x float64) int32 { return int32(math.Float64bits(x) >> 32) }

func low(x float64) uint32 { return uint32(math.Float64bits(x)) }

func number(high int32, low uint32) float64 {
	return math.Float64frombits(uint64(uint32(high))<<32 | uint64(low))
}

// withHigh is x with another upper half.
func withHigh(x float64, high int32) float64 { return number(high, low(x)) }

// upper is x without its lower half, so that products of two such numbers are exact.
func upper(x float64) float64 {
	return math.Float64frombits(math.Float64bits(x) &^ 0xFFFFFFFF)
}

// power2 is 2 to the k, for the exponents of normal numbers.
func power2(k int) float64 { return number(int32(highOne+k<<20), 0) }

// poly is c[0] + x*(c[1] + x*(c[2] + ...)).
func poly(x float64, c []float64) float64 {
	sum := c[len(c)-1]
	for i := len(c) - 2; i >= 0; i-- {
		sum = c[i] + float64(x*sum)
	}
	return sum
}

// signed is x with its sign turned where like is negative.
func signed(x float64, like int32) float64 {
	if like < 0 {
		return -x
	}
	return x
}
