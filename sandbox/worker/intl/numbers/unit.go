package numbers

import (
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// isUnit tells whether JavaScript knows a unit, or one per another.
func isUnit(name string) bool {
	above, below, _ := strings.Cut(name, "-per-")
	units := cldr.Load("en").Units
	return units[above] != nil && (below == "" || units[below] != nil) && !strings.HasSuffix(name, "-per-")
}

var unitWidths = []string{"short", "narrow", "long"}

// unitPatterns are those of the unit by plural category, nil where there are none.
func (f *Format) unitPatterns() map[string]string {
	data := f.locale.Data
	width := slices.Index(unitWidths, f.unitDisplay)
	if whole := data.PerUnits[f.unit]; whole != nil {
		return whole[width]
	}
	above, below, divided := strings.Cut(f.unit, "-per-")
	if !divided {
		return data.Units[above][width]
	}
	suffix := data.PerSuffixes[below][width]
	if above == "percent" || suffix == "" {
		return nil
	}
	out := map[string]string{}
	for category, pattern := range data.Units[above][width] {
		start := strings.Index(pattern, "{u:")
		end := start + strings.IndexByte(pattern[start:], '}')
		out[category] = pattern[:start+3] + strings.Replace(suffix, "{0}", pattern[start+3:end], 1) + pattern[end:]
	}
	return out
}
