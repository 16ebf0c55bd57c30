package jsonrpc

import (
	"math"
	"strconv"
)

// maxExact is the largest integer up to which every integer is exact in a
// float64, and so in a peer written in JavaScript.
const maxExact = 1 << 53

// numberKey keeps the text of plain integers, whatever their size, and reduces
// the other spellings of one that a float64 holds exactly: 1.0, 1e2, -0.
func numberKey(id []byte) (string, bool) {
	if plainInteger(id) {
		return string(id), true
	}
	f, err := strconv.ParseFloat(string(id), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > maxExact {
		return "", false
	}
	return strconv.FormatInt(int64(f), 10), true
}

func plainInteger(id []byte) bool {
	digits := id
	if id[0] == '-' {
		digits = id[1:]
	}
	if len(digits) == 0 || digits[0] == '0' && len(id) > 1 {
		return false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
