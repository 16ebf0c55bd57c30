package v8math

import "math"

const (
	digitBits = 24
	digitMask = 1<<digitBits - 1
	firstSize = 4 // digits of 2/pi behind the first that are needed at first
)

// halfPiDigits is half of pi in parts of 24 bits.
var halfPiDigits = [...]float64{0x1.921fb4p0, 0x1.4442dp-24, 0x1.846988p-48, 0x1.8cc516p-72, 0x1.01b838p-96}

// inversePi has the digits of 2/pi, 24 bits each.
var inversePi = [...]int32{
	0xA2F983, 0x6E4E44, 0x1529FC, 0x2757D1, 0xF534DD, 0xC0DB62, 0x95993C, 0x439041, 0xFE5163, 0xABDEBB, 0xC561B7,
	0x246E3A, 0x424DD2, 0xE00649, 0x2EEA09, 0xD1921C, 0xFE1DEB, 0x1CB129, 0xA73EE8, 0x8235F5, 0x2EBB44, 0x84E99C,
	0x7026B4, 0x5F7E41, 0x3991D6, 0x398353, 0x39F49C, 0x845F8B, 0xBDF928, 0x3B1FF8, 0x97FFDE, 0x05980F, 0xEF2F11,
	0x8B5A0A, 0x6D1F6D, 0x367ECF, 0x27CB09, 0xB74F46, 0x3F669E, 0x5FEA2D, 0x7527BA, 0xC7EBE5, 0xF17B3D, 0x0739F7,
	0x8A5292, 0xEA6BFB, 0x5FB11F, 0x8D5D08, 0x560330, 0x46FC7B, 0x6BABF0, 0xCFBC20, 0x9AF436, 0x1DA9E3, 0x91615E,
	0xE61B08, 0x659985, 0x5F14A0, 0x68408D, 0xFFD880, 0x4D7327, 0x310606, 0x1556CA, 0x73A8C9, 0x60E27B, 0xC08C6B,
}

// turns is a number of quarter turns: a whole one and a fraction, in digits of 24 bits
// with the last ones first, below a top whose weight is 2 to the scale.
type turns struct {
	digits []int64
	top    int64
	scale  int
}

// farRemainder multiplies by those digits of 2/pi that matter modulo eight, takes the
// whole turns off, and multiplies the fraction with half of pi.
func farRemainder(a float64, h int32) (n int, hi, lo float64) {
	exponent := int(h>>20) - 1046
	bits := int64(math.Float64bits(a)&(1<<52-1) | 1<<52)
	x := [3]int64{bits >> 29, bits >> 5 & digitMask, bits & 31 << 19}
	first := max(0, (exponent-3)/digitBits)
	for size := firstSize; ; {
		t := product(x, first, size, exponent-digitBits*(first+1))
		n, negative := t.takeWhole()
		if more := t.missing(); more > 0 {
			size += more
			continue
		}
		hi, lo = t.angle()
		if negative {
			hi, lo = -hi, -lo
		}
		return n, hi, lo
	}
}

func product(x [3]int64, first, size, scale int) turns {
	t := turns{digits: make([]int64, 0, size+2), scale: scale}
	carry := int64(0)
	for i := size; i >= 0; i-- {
		sum := carry
		for j, digit := range x {
			if at := first + i - j; at >= 0 {
				sum += digit * int64(inversePi[at])
			}
		}
		if i == 0 {
			t.top = sum
			break
		}
		t.digits = append(t.digits, sum&digitMask)
		carry = sum >> digitBits
	}
	return t
}

// takeWhole leaves the fraction, or what is missing to the next whole turn where that
// is nearer.
func (t *turns) takeWhole() (n int, negative bool) {
	last := &t.digits[len(t.digits)-1]
	switch {
	case t.scale > 0:
		rest := digitBits - t.scale
		n = int(t.top<<t.scale + *last>>rest)
		*last &= 1<<rest - 1
		t.top, negative = 0, *last>>(rest-1) > 0
	case t.scale == 0:
		n = int(t.top)
		t.top, negative = 0, *last>>(digitBits-1) > 0
	default:
		n = int(t.top >> -t.scale)
		t.top &= 1<<-t.scale - 1
		negative = t.top>>(-t.scale-1) > 0
	}
	if negative {
		n++
		t.complement()
	}
	return n & 7, negative
}

// complement makes the fraction one minus itself.
func (t *turns) complement() {
	borrow := int64(0)
	for i, digit := range t.digits {
		t.digits[i] = (-digit - borrow) & digitMask
		if digit != 0 {
			borrow = 1
		}
	}
	switch {
	case t.scale > 0:
		t.digits[len(t.digits)-1] &= 1<<(digitBits-t.scale) - 1
	case t.scale < 0:
		t.top = 1<<-t.scale - t.top - borrow
	}
}

// missing is how many more digits of 2/pi a fraction needs that has lost its first ones.
func (t *turns) missing() int {
	if t.top != 0 {
		return 0
	}
	for _, digit := range t.digits[firstSize:] {
		if digit != 0 {
			return 0
		}
	}
	more := 1
	for more <= firstSize && t.digits[firstSize-more] == 0 {
		more++
	}
	return more
}

// angle multiplies with half of pi, in two parts.
func (t *turns) angle() (hi, lo float64) {
	digits, scale := t.digits, t.scale
	switch {
	case t.top > digitMask:
		digits = append(digits, t.top&digitMask, t.top>>digitBits)
		scale += digitBits
	case t.top > 0:
		digits = append(digits, t.top)
	default:
		scale -= digitBits
		for digits[len(digits)-1] == 0 {
			digits = digits[:len(digits)-1]
			scale -= digitBits
		}
	}
	count := len(digits)
	values := make([]float64, count) // the first digits first
	weight := power2(scale)
	for i := range values {
		values[i] = float64(weight * float64(digits[count-1-i]))
		weight = float64(weight * (0x1p-24))
	}
	sums := make([]float64, count)
	for i := range sums {
		for k := 0; k < len(halfPiDigits) && k <= i; k++ {
			sums[i] += float64(halfPiDigits[k] * values[i-k])
		}
	}
	for i := count - 1; i >= 0; i-- {
		hi += sums[i]
	}
	lo = sums[0] - hi
	for _, sum := range sums[1:] {
		lo += sum
	}
	return hi, lo
}
