package v8math

import "math"

const (
	lg2High      = 0x1.62e43p-1
	lg2Low       = -0x1.05c610ca86c39p-29
	overflowEdge = 8.0085662595372944372e-17 // -(1024 - log2(largest + half a digit))
	cp           = 0x1.ec709dc3a03fdp-1      // 2/(3 ln2)
	cpHigh       = 0x1.ec709ep-1
	cpLow        = -0x1.e2fe0145b01f5p-28
	powInvHigh   = 0x1.715476p+0 // 1/ln2
	powInvLow    = 0x1.4ae0bf85ddf44p-26
)

var (
	powTerms = [...]float64{
		0x1.3333333333303p-1, 0x1.b6db6db6fabffp-2, 0x1.55555518f264dp-2,
		0x1.17460a91d4101p-2, 0x1.d864a93c9db65p-3, 0x1.a7e284a454eefp-3,
	}
	// The logarithm is taken near one or near one and a half.
	powNear    = [...]float64{1, 1.5}
	powNearLog = [...]float64{0, 0x1.2b80340000000p-1}
	powNearLow = [...]float64{0, 0x1.cfdeb43cfd006p-27}
)

// Pow is x to the y, of Math.pow and of **.
func Pow(x, y float64) float64 {
	if value, answered := powEdge(x, y); answered {
		return value
	}
	sign := 1.0
	if x < 0 {
		switch parity(y) {
		case fractional:
			return math.NaN()
		case odd:
			sign = -1
		}
	}
	a := math.Abs(x)
	var t1, t2 float64
	if high(y)&signless > 0x41E00000 { // |y| is over 2^31
		over := (a > 1) == (y > 0)
		if h := high(a); h < 0x3FEFFFFF || h > highOne || high(y)&signless > 0x43F00000 {
			return float64(sign * extreme(over))
		}
		t1, t2 = log2NearOne(a)
	} else {
		t1, t2 = log2InParts(a)
	}
	y1 := upper(y)
	lo := float64((y-y1)*t1) + float64(y*t2)
	hi := float64(y1 * t1)
	switch z := lo + hi; {
	case z > 1024 || z == 1024 && lo+overflowEdge > z-hi:
		return float64(sign * math.Inf(1))
	case z < -1075 || z == -1075 && lo <= z-hi:
		return float64(sign * 0)
	}
	return float64(sign * exp2OfParts(hi, lo))
}

func extreme(over bool) float64 {
	if over {
		return math.Inf(1)
	}
	return 0
}

// powEdge answers for exponents and bases whose powers are exact.
func powEdge(x, y float64) (value float64, answered bool) {
	switch {
	case y == 0:
		return 1, true
	case math.IsNaN(x) || math.IsNaN(y):
		return math.NaN(), true
	case math.IsInf(y, 0) && math.Abs(x) == 1:
		return math.NaN(), true // ECMAScript's own rule
	case math.IsInf(y, 0):
		return extreme((math.Abs(x) > 1) == (y > 0)), true
	case y == 1:
		return x, true
	case y == -1:
		return 1 / x, true
	case y == 2:
		return float64(x * x), true
	case y == 0.5 && !math.Signbit(x):
		return math.Sqrt(x), true
	case x != 0 && !math.IsInf(x, 0) && math.Abs(x) != 1:
		return 0, false
	}
	value = math.Abs(x)
	if y < 0 {
		value = 1 / value
	}
	if math.Signbit(x) {
		switch p := parity(y); {
		case x == -1 && p == fractional:
			return math.NaN(), true
		case p == odd:
			value = -value
		}
	}
	return value, true
}

const (
	fractional = iota
	odd
	even
)

func parity(y float64) int {
	switch y = math.Abs(y); {
	case y >= 1<<53:
		return even
	case y != math.Floor(y):
		return fractional
	case int64(y)&1 == 1:
		return odd
	default:
		return even
	}
}

// log2NearOne is the logarithm in two parts of a number within 2^-20 of one.
func log2NearOne(a float64) (hi, lo float64) {
	t := a - 1
	w := float64(t * t * (0.5 - float64(t*(0.3333333333333333333333-float64(t*0.25)))))
	u := float64(powInvHigh * t)
	v := float64(t*powInvLow) - float64(w*inverseLn2)
	hi = upper(u + v)
	return hi, v - (hi - u)
}

// log2InParts is a logarithm in two parts, the first of which has an upper half only.
func log2InParts(a float64) (hi, lo float64) {
	n := 0
	if high(a) < 0x00100000 {
		a = float64(a * (1 << 53))
		n = -53
	}
	h := high(a)
	n += int(h>>20) - 1023
	fraction := h & 0x000FFFFF
	near := int32(0)
	h = fraction | highOne
	switch {
	case fraction <= 0x3988E:
	case fraction < 0xBB67A:
		near = 1
	default:
		n++
		h -= 0x00100000
	}
	a = withHigh(a, h)
	// s is (a-b)/(a+b) in two parts, and a+b its divisor in two.
	b := powNear[near]
	u, v := a-b, 1/(a+b)
	s := float64(u * v)
	sHigh := upper(s)
	tHigh := number((h>>1|0x20000000)+0x00080000+near<<18, 0)
	tLow := a - (tHigh - b)
	sLow := float64(v * ((u - float64(sHigh*tHigh)) - float64(sHigh*tLow)))
	// The logarithm of a/b by its series in s.
	square := float64(s * s)
	r := float64(square*square*poly(square, powTerms[:])) + float64(sLow*(sHigh+s))
	square = float64(sHigh * sHigh)
	tHigh = upper(3 + square + r)
	tLow = r - ((tHigh - 3) - square)
	u = float64(sHigh * tHigh)
	v = float64(sLow*tHigh) + float64(tLow*s)
	pHigh := upper(u + v)
	pLow := v - (pHigh - u)
	zHigh := float64(cpHigh * pHigh)
	zLow := float64(cpLow*pHigh) + float64(pLow*cp) + powNearLow[near]
	k := float64(n)
	hi = upper(((zHigh + zLow) + powNearLog[near]) + k)
	return hi, zLow - (((hi - k) - powNearLog[near]) - zHigh)
}

// exp2OfParts is 2 to the hi+lo, which neither over- nor underflows by far.
func exp2OfParts(hi, lo float64) float64 {
	n := int32(0)
	if j := high(lo + hi); j&signless > highHalf {
		k := (j&signless)>>20 - 0x3FF
		n = j + 0x00100000>>(k+1)
		k = (n&signless)>>20 - 0x3FF
		whole := number(n&^(0x000FFFFF>>k), 0)
		n = (n&0x000FFFFF | 0x00100000) >> (20 - k)
		if j < 0 {
			n = -n
		}
		hi -= whole
	}
	t := upper(lo + hi)
	u := float64(t * lg2High)
	v := float64((lo-(t-hi))*ln2) + float64(t*lg2Low)
	z := u + v
	w := v - (z - u)
	t = float64(z * z)
	t1 := z - float64(t*poly(t, expTerms[:]))
	r := z * t1 / ((t1 - 2) - (w + float64(z*w))) // fdlibm subtracts the last term from the quotient; V8 does not
	z = 1 - (r - z)
	if h := high(z) + n<<20; h>>20 > 0 {
		return withHigh(z, h)
	}
	return math.Ldexp(z, int(n))
}
