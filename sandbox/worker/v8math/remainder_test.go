package v8math

import (
	"math/big"
	"testing"
)

const precision = 2200 // bits

// TestDigitsAreThoseOfTwoOverPi divides by a pi of its own.
func TestDigitsAreThoseOfTwoOverPi(t *testing.T) {
	rest := new(big.Float).SetPrec(precision).Quo(whole(2), machin())
	for i, digit := range inversePi {
		rest.SetMantExp(rest, digitBits)
		want, _ := rest.Int64()
		if int64(digit) != want {
			t.Errorf("digit %d is %#x, not %#x", i, digit, want)
		}
		rest.Sub(rest, whole(want))
	}
}

// machin is pi by Machin's formula: 16 atan(1/5) - 4 atan(1/239).
func machin() *big.Float {
	fifth, other := atanOfInverse(5), atanOfInverse(239)
	fifth.Mul(fifth, whole(4))
	return fifth.Mul(fifth.Sub(fifth, other), whole(4))
}

func atanOfInverse(n int64) *big.Float {
	power, sum := new(big.Float).Quo(whole(1), whole(n)), whole(0)
	for k := int64(1); k < precision/2; k += 2 {
		term := new(big.Float).Quo(power, whole(k))
		if k%4 == 3 {
			term.Neg(term)
		}
		sum.Add(sum, term)
		power.Quo(power, whole(n*n))
	}
	return sum
}

func whole(n int64) *big.Float { return new(big.Float).SetPrec(precision + 64).SetInt64(n) }
