package calc

import (
	"cmp"
	"strconv"

	"github.com/bir-run/bir/engine/value"
)

// compare orders two fields as the bodies do: numbers by value, dates as text.
func compare(a, b *value.Node) int {
	if a.Kind == value.Number {
		x, errX := strconv.ParseFloat(a.Text, 64)
		y, errY := strconv.ParseFloat(b.Text, 64)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(a.Text, b.Text)
}
