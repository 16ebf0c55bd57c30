package worker

import (
	"math"
	"math/big"
	"math/bits"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
)

// exactInteger bounds the integers that need no rounding.
const exactInteger = 1 << 53

// installParseInt has integers beyond the exact ones rounded as V8 rounds them.
func (ev *evaluation) installParseInt() {
	original, _ := goja.AssertFunction(ev.vm.Get("parseInt"))
	parse := native(ev.vm, "parseInt", 2, func(c goja.FunctionCall) goja.Value {
		if _, isSymbol := c.Argument(0).(*goja.Symbol); isSymbol {
			panic(ev.vm.NewTypeError("Cannot convert a Symbol value to a string"))
		}
		text, radix := ev.textOf(c.Argument(0)), c.Argument(1).ToNumber()
		value, err := original(goja.Undefined(), text, radix)
		if err != nil {
			panic(err)
		}
		switch number := value.ToFloat(); {
		case math.Abs(number) >= exactInteger:
			return ev.vm.ToValue(math.Copysign(largeInteger(text.String(), int(int32(radix.ToInteger()))), number))
		case number == 0 && strings.HasPrefix(strings.TrimLeftFunc(text.String(), isSpace), "-"):
			return ev.vm.ToValue(math.Copysign(0, -1))
		}
		return value
	})
	hide(ev.vm.GlobalObject(), "parseInt", parse)
	hide(ev.vm.Get("Number").(*goja.Object), "parseInt", parse)
}

// largeInteger reads the digits of a text of which is known that it has them, without
// the sign.
func largeInteger(text string, base int) float64 {
	digits := strings.TrimLeft(strings.TrimLeftFunc(text, isSpace), "+-")
	if base == 0 || base == 16 {
		if len(digits) > 1 && digits[0] == '0' && digits[1]|0x20 == 'x' {
			digits, base = digits[2:], 16
		}
	}
	if base == 0 {
		base = 10
	}
	end := strings.IndexFunc(digits, func(r rune) bool { return digitOf(r) >= base })
	if end >= 0 {
		digits = digits[:end]
	}
	digits = strings.TrimLeft(digits, "0")
	switch {
	case base == 10:
		number, _ := strconv.ParseFloat(digits, 64) // a range error comes with infinity
		return number
	case bits.OnesCount(uint(base)) == 1:
		return roundedOnce(digits, base)
	default:
		return roundedInParts(digits, base)
	}
}

// isSpace is white space where it may stand before a number.
func isSpace(r rune) bool { return digitOf(r) == noDigit && r != '+' && r != '-' }

const noDigit = 99

func digitOf(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r|0x20 >= 'a' && r|0x20 <= 'z':
		return int(r|0x20-'a') + 10
	}
	return noDigit
}

// roundedOnce is for bases that are powers of two. More digits than a double's largest
// exponent are infinity.
func roundedOnce(digits string, base int) float64 {
	if len(digits) > 1100 {
		return math.Inf(1)
	}
	whole, _ := new(big.Int).SetString(digits, base)
	number, _ := new(big.Float).SetInt(whole).Float64()
	return number
}

// roundedInParts adds as many digits at once as fit a word, as V8 does: each part rounds.
func roundedInParts(digits string, base int) float64 {
	const most = math.MaxUint32 / 36
	number := 0.0
	for digits != "" {
		part, multiplier := uint32(0), uint32(1)
		for digits != "" && multiplier*uint32(base) <= most {
			part = part*uint32(base) + uint32(digitOf(rune(digits[0])))
			multiplier *= uint32(base)
			digits = digits[1:]
		}
		number = float64(number*float64(multiplier)) + float64(part)
	}
	return number
}

// largeHex finds sources that may write an integer in hexadecimal that is not exact.
var largeHex = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`0[xX][0-9a-fA-F_]{14}`) })

// takeIntegers rounds such integers once. goja does so at each digit.
func (p *program) takeIntegers(function *ast.FunctionLiteral) (found bool) {
	if !strings.ContainsAny(p.author.source, "xX") || !largeHex().MatchString(p.author.source) {
		return false
	}
	visit(reflect.ValueOf(function.Body), func(node any) {
		literal, ok := node.(*ast.NumberLiteral)
		if !ok || len(literal.Literal) < 2 || literal.Literal[1]|0x20 != 'x' {
			return
		}
		if _, inexact := literal.Value.(float64); inexact {
			found = true
			literal.Value = roundedOnce(strings.ReplaceAll(literal.Literal[2:], "_", ""), 16)
		}
	})
	return found
}
