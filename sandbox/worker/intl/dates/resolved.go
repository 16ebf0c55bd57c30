package dates

import (
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl"
)

// Resolved are the options in effect.
func (f *Format) Resolved() []intl.Resolved {
	out := []intl.Resolved{{Name: "locale", Value: f.locale.Tag}, {Name: "calendar", Value: "gregory"}, {Name: "numberingSystem", Value: "latn"}, {Name: "timeZone", Value: f.zone.name}}
	letters := f.letters()
	if strings.Contains(f.pattern, "{h") {
		cycle := f.hourCycle()
		out = append(out, intl.Resolved{Name: "hourCycle", Value: cycle}, intl.Resolved{Name: "hour12", Value: cycle == "h11" || cycle == "h12"})
	}
	if f.dateStyle == "" && f.timeStyle == "" {
		return append(out, resolvedFields(letters)...)
	}
	if f.dateStyle != "" {
		out = append(out, intl.Resolved{Name: "dateStyle", Value: f.dateStyle})
	}
	if f.timeStyle != "" {
		out = append(out, intl.Resolved{Name: "timeStyle", Value: f.timeStyle})
	}
	return out
}

// letterWidths are what V8 looks for in a pattern, in its order: the first that is
// there decides.
var letterWidths = []struct {
	field string
	pairs []string // letters, width
}{
	{"weekday", []string{"EEEEE", "narrow", "EEEE", "long", "EEE", "short"}},
	{"era", []string{"GGGGG", "narrow", "GGGG", "long", "GGG", "short"}},
	{"year", []string{"yy", "2-digit", "y", "numeric"}},
	{"month", []string{"MMMMM", "narrow", "MMMM", "long", "MMM", "short", "MM", "2-digit", "M", "numeric", "LL", "2-digit", "L", "numeric"}},
	{"day", []string{"dd", "2-digit", "d", "numeric"}},
	{"dayPeriod", []string{"BBBBB", "narrow", "bbbbb", "narrow", "BBBB", "long", "bbbb", "long", "B", "short", "b", "short"}},
	{"hour", []string{"HH", "2-digit", "H", "numeric", "hh", "2-digit", "h", "numeric", "kk", "2-digit", "k", "numeric", "KK", "2-digit", "K", "numeric"}},
	{"minute", []string{"mm", "2-digit", "m", "numeric"}},
	{"second", []string{"ss", "2-digit", "s", "numeric"}},
	{"timeZoneName", []string{"zzzz", "long", "z", "short", "OOOO", "longOffset", "O", "shortOffset", "vvvv", "longGeneric", "v", "shortGeneric"}},
}

// resolvedFields reads the widths off a pattern as V8 does, which takes the letters of
// quoted words for fields too.
func resolvedFields(letters string) []intl.Resolved {
	var out []intl.Resolved
	for _, field := range letterWidths {
		if n := strings.Count(letters, "S"); n > 0 && field.field == "timeZoneName" {
			out = append(out, intl.Resolved{Name: "fractionalSecondDigits", Value: min(n, 3)})
		}
		for i := 0; i < len(field.pairs); i += 2 {
			if strings.Contains(letters, field.pairs[i]) {
				out = append(out, intl.Resolved{Name: field.field, Value: field.pairs[i+1]})
				break
			}
		}
	}
	return out
}

// lettersOf are the letters of a pattern for a width.
var lettersOf = map[string]string{
	"weekday narrow": "EEEEE", "weekday short": "EEE", "weekday long": "EEEE",
	"era narrow": "GGGGG", "era short": "GGG", "era long": "GGGG",
	"month narrow": "MMMMM", "month short": "MMM", "month long": "MMMM",
	"dayPeriod narrow": "BBBBB", "dayPeriod short": "B", "dayPeriod long": "BBBB",
	"timeZoneName short": "z", "timeZoneName long": "zzzz", "timeZoneName shortOffset": "O", "timeZoneName longOffset": "OOOO",
	"timeZoneName shortGeneric": "v", "timeZoneName longGeneric": "vvvv",
}

var hourLetters = map[string]string{"h11": "K", "h12": "h", "h23": "H", "h24": "k"}

// letters is the pattern in the letters that V8 has it in.
func (f *Format) letters() string {
	return intl.Text(intl.Fill(f.pattern, func(token string) []intl.Part {
		kind := partTypes[token[0]]
		letters, named := lettersOf[kind+" "+f.fields[kind]]
		switch token[0] {
		case 'h':
			letters = strings.ReplaceAll(token, "h", hourLetters[f.hourCycle()])
		case 'S':
			letters = strings.Repeat("S", f.fractionDigits)
		case 'M', 'y', 'd', 'm', 's':
			letters = token
		case 'a':
			letters = "a"
		default:
			if !named {
				letters = ""
			}
		}
		return []intl.Part{{Type: kind, Value: letters}}
	}))
}
