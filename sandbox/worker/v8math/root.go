package v8math

import "math"

// Rough cube roots are a third of the bits and one of these.
const (
	cbrtBias          = 715094163
	cbrtBiasSubnormal = 696219795
)

func cbrt(x float64) float64 {
	h := high(x) & signless
	if h >= highInfinite || x == 0 {
		return x
	}
	var bits int32
	if h < 0x00100000 {
		bits = (high(float64(x*(1<<54)))&signless)/3 + cbrtBiasSubnormal
	} else {
		bits = h/3 + cbrtBias
	}
	t := math.Copysign(number(bits, 0), x)
	// A polynomial makes 23 bits of it.
	r := float64(t * t * (t / x))
	t = float64(t * ((0x1.e03e60f61e692p+0 + float64(r*(-0x1.e28e092f02420p+0+float64(r*0x1.9f1604a49d6c2p+0)))) +
		float64(r*r*r*(-0x1.844cbbee751d9p-1+float64(r*0x1.2b000d4e4edd7p-3)))))
	t = math.Float64frombits((math.Float64bits(t) + 0x80000000) & 0xFFFFFFFFC0000000)
	// And a step of Newton's 53.
	r = x / (t * t)
	r = (r - t) / ((t + t) + r)
	return t + float64(t*r)
}

// Hypot is the root of the sum of squares. The sum carries what its additions lose.
func Hypot(numbers ...float64) float64 {
	greatest := 0.0
	for _, n := range numbers {
		if math.IsInf(n, 0) {
			return math.Inf(1)
		}
		greatest = max(greatest, math.Abs(n)) // NaN where one is
	}
	if math.IsNaN(greatest) || greatest == 0 {
		return greatest
	}
	sum, lost := 0.0, 0.0
	for _, n := range numbers {
		n = math.Abs(n) / greatest
		summand := float64(n*n) - lost
		next := sum + summand
		lost = (next - sum) - summand
		sum = next
	}
	return float64(math.Sqrt(sum) * greatest)
}
