package intl

import (
	"fmt"
	"strings"

	"github.com/bir-run/bir/sandbox/worker/intl/cldr"
)

// DefaultLocale is that of bodies on every machine.
const DefaultLocale = "en-US"

// Locale is a locale as resolved for one use.
type Locale struct {
	Tag        string            // with the extensions that count
	Extensions map[string]string // the keywords that count
	Data       *cldr.Locale
}

// Resolve finds the first of the requested locales that there are data for, as Node
// does. Those that Node would take and we lack are an error.
func Resolve(requested []string, keys ...string) (*Locale, *Error) {
	for _, tag := range requested {
		name, err := available(tag)
		if err != nil {
			return nil, err
		}
		if name == "" {
			continue
		}
		return newLocale(name, extensionsOf(tag), keys), nil
	}
	return newLocale(DefaultLocale, nil, nil), nil
}

func newLocale(name string, extensions map[string]string, keys []string) *Locale {
	l := &Locale{Tag: name, Extensions: map[string]string{}, Data: cldr.Load(name)}
	var kept strings.Builder
	for _, key := range keys {
		value, ok := extensions[key]
		if !ok {
			continue
		}
		l.Extensions[key] = value
		kept.WriteString("-" + key)
		if value != "" {
			kept.WriteString("-" + value)
		}
	}
	if kept.Len() > 0 {
		l.Tag += "-u" + kept.String()
	}
	return l
}

// Language is the part of the tag that plural rules and orders depend on.
func (l *Locale) Language() string { return languageOf(l.Tag) }

func languageOf(tag string) string {
	language, _, _ := strings.Cut(tag, "-")
	return language
}

// available is the name under which there are data for a canonical tag, empty where
// Node has none either.
func available(tag string) (string, *Error) {
	language, script, region := subtags(tag)
	if !cldr.InNode(language, "") {
		return "", nil
	}
	name := language // that is all that is looked for when there is a script
	if region != "" && script == "" && cldr.InNode(language, region) {
		name += "-" + region
	}
	if script != "" && script != "Latn" && !(language == "ja" && script == "Jpan") || !cldr.Has(name) {
		return "", RangeError(fmt.Sprintf("The locale %s is not available to bodies: there are data for %s", tag, have))
	}
	return name, nil
}

const have = "en, de, fr, es, ja, it, nl, pt, sv and the common regions of each"

// subtags are those of a canonical tag that choose data.
func subtags(tag string) (language, script, region string) {
	parts := strings.Split(tag, "-")
	language = parts[0]
	for _, p := range parts[1:] {
		switch {
		case len(p) == 1:
			return language, script, region
		case len(p) == 4 && isLetters(p):
			script = p
		case len(p) == 2 || len(p) == 3 && isDigits(p):
			region = p
		}
	}
	return language, script, region
}

// extensionsOf are the keywords of a canonical tag's -u- part.
func extensionsOf(tag string) map[string]string {
	_, u, found := strings.Cut(tag, "-u-")
	if !found {
		return nil
	}
	out := map[string]string{}
	key := ""
	for _, p := range strings.Split(u, "-") {
		switch {
		case len(p) == 1:
			return out
		case len(p) == 2:
			key = p
			if _, twice := out[key]; !twice {
				out[key] = ""
			}
		case key != "" && out[key] != "":
			out[key] += "-" + p
		case key != "":
			out[key] = p
		}
	}
	return out
}

// SupportedLocales are those of the tags that there are data for.
func SupportedLocales(tags []string) []string {
	out := []string{}
	for _, tag := range tags {
		if name, err := available(tag); err == nil && name != "" {
			out = append(out, tag)
		}
	}
	return out
}

// CheckNumbering refuses digits other than 0 to 9.
func (l *Locale) CheckNumbering() *Error {
	if system := l.Extensions["nu"]; system != "" && system != "latn" {
		return noNumbering(system)
	}
	return nil
}

// Default is the locale of bodies that name none.
func Default() *Locale { return newLocale(DefaultLocale, nil, nil) }
