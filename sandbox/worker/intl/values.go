package intl

import (
	"maps"
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// SupportedValues are those that Intl.supportedValuesOf lists.
func SupportedValues(key string) ([]string, *Error) {
	switch key {
	case "calendar":
		return []string{"gregory"}, nil
	case "collation":
		return []string{}, nil
	case "currency":
		return strings.Fields(cldr.TheWorld().Currencies.Named), nil
	case "numberingSystem":
		return []string{"latn"}, nil
	case "timeZone":
		return strings.Fields(cldr.TheWorld().Supported.Zones), nil
	case "unit":
		return slices.Sorted(maps.Keys(cldr.Load("en").Units)), nil
	}
	return nil, RangeError("Invalid key : " + key)
}
