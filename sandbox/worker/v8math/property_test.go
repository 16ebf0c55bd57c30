package v8math

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestFunctionsAreSymmetric(t *testing.T) {
	odd := []func(float64) float64{asin, asinh, atan, atanh, cbrt, sin, sinh, tan, tanh}
	even := []func(float64) float64{cos, cosh}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		for i, f := range odd {
			if bits(f(x)) != bits(-f(-x)) {
				t.Errorf("odd function %d gives %v for x, %v for -x", i, f(x), f(-x))
			}
		}
		for i, f := range even {
			if bits(f(x)) != bits(f(-x)) {
				t.Errorf("even function %d gives %v for x, %v for -x", i, f(x), f(-x))
			}
		}
	})
}

// TestFunctionsAgreeWithEachOther finds a wrong branch, which would be wrong by more
// than the last digits.
func TestFunctionsAgreeWithEachOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		s, c, small := sin(x), cos(x), rapid.Float64Range(-700, 700).Draw(t, "small")
		a := math.Abs(x)
		for name, sides := range map[string][2]float64{
			"sin² + cos² = 1":        {s*s + c*c, 1},
			"tan cos = sin":          {tan(x) * c, s},
			"exp log = x":            {exp(log(a)), a},
			"log exp = x":            {log(exp(small)), small},
			"log2 = log/ln2":         {log2(a) * ln2, log(a)},
			"log10 = log/ln10":       {log10(a) * math.Ln10, log(a)},
			"log1p = log(1+x)":       {log1p(a), log(1 + a)},
			"expm1 = exp-1":          {expm1(small), exp(small) - 1},
			"cosh + sinh = exp":      {cosh(small) + sinh(math.Abs(small)), exp(math.Abs(small))},
			"tanh cosh = sinh":       {tanh(small) * cosh(small), sinh(small)},
			"asinh sinh = x":         {asinh(sinh(small)), small},
			"acosh cosh = |x|":       {acosh(cosh(small)), math.Abs(small)},
			"tan atan = x":           {tan(atan(small)), small},
			"asin + acos = half pi":  {asin(s) + acos(s), halfPi},
			"atan2 of sin and cos":   {sin(Atan2(s, c)), s},
			"cbrt³ = x":              {cbrt(x) * cbrt(x) * cbrt(x), x},
			"pow = exp(log y)":       {Pow(math.Abs(small), 1.25), exp(1.25 * log(math.Abs(small)))},
			"pow of the square root": {Pow(a, 0.5), math.Sqrt(a)},
		} {
			if !near(sides[0], sides[1]) {
				t.Errorf("%s: %v and %v", name, sides[0], sides[1])
			}
		}
	})
}

// near allows what the identities themselves lose.
func near(x, y float64) bool {
	return bits(x) == bits(y) || math.Abs(x-y) <= 1e-7*max(1, math.Abs(x)) || !finite(x) || !finite(y)
}

func finite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

func TestPowersKnowTheParityOfTheirExponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		n := float64(rapid.Int64Range(-1<<53, 1<<53).Draw(t, "n"))
		power, turned := Pow(x, n), Pow(-x, n)
		if math.Mod(n, 2) != 0 {
			turned = -turned
		}
		if bits(power) != bits(turned) {
			t.Errorf("%v for x, %v for -x", power, turned)
		}
	})
}
