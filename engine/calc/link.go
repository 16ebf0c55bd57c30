package calc

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/bir-run/bir/engine/source"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

const nearWords = 4 // how far before a value a word still speaks of it

// link says how clearly the words around a text speak of a place.
func (c *situation) link(p *source.Place) int {
	best := linkNone
	if c.whole {
		best = keyLink(words.Segments(c.key), p)
	}
	if c.near == nil && c.label != "" {
		c.near = nearest(c.label)
	}
	for _, word := range c.near {
		best = max(best, keyLink([]string{word}, p))
	}
	return best
}

// nearest are the last words of a label, the nearest first.
func nearest(label string) []string {
	segments := words.Segments(label)
	near := []string{}
	for i := len(segments) - 1; i >= 0 && len(near) < nearWords; i-- {
		near = append(near, segments[i])
	}
	return near
}

// keyLink compares words with the key of a place and with what it belongs to. A
// generic key counts fully only together with its owner: deviceId, for
// devices[0].id.
func keyLink(around []string, p *source.Place) int {
	key := words.Segments(p.Key())
	isGeneric := source.Generic[strings.ToLower(strings.Join(key, ""))]
	byKey, byOwner := anyRelated(around, key), anyRelated(around, p.Around())
	switch {
	case byKey && !isGeneric, byKey && byOwner:
		return linkKey
	case byOwner && (isGeneric || p.Element() == ""):
		return linkOwner
	case byKey, byOwner:
		return linkLoose
	}
	return linkNone
}

func anyRelated(some, others []string) bool {
	for _, a := range some {
		for _, b := range others {
			if words.Related(a, b) {
				return true
			}
		}
	}
	return false
}

var round = regexp.MustCompile(`^-?[1-9]0*$`)

const (
	longText     = 20 // a text this long is no coincidence
	minStrong    = 4
	minStrongNum = 3
)

// strong tells values that hardly stand in an input by coincidence.
func strong(text string, kind value.Kind) bool {
	runes := utf8.RuneCountInString(text)
	if kind == value.Number || numeric.MatchString(text) {
		return runes >= minStrongNum && !round.MatchString(text)
	}
	switch {
	case runes >= longText:
		return true
	case runes < minStrong:
		return false
	}
	return strings.ContainsAny(text, "0123456789-_/.@:") || strings.ContainsAny(strings.TrimSpace(text), " \t\n")
}

// trivial values are everywhere and mean nothing by themselves.
func trivial(text string) bool {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "true", "false", "null", "none", "yes", "no", "ok", "undefined":
		return true
	}
	return len(text) < 2 && (text[0] < '0' || text[0] > '9')
}

// The parts of a score, the higher the better. The prompt is preferred to any
// output: what the user wrote is the cause, and an output that has it too mostly
// repeats it.
const (
	scorePrompt  = 1000
	scoreForm    = -5 // a value as it is, before one that is changed
	scoreLink    = 30 // per degree of link
	scoreElement = 60 // the element that another value already comes from
	scorePick    = 15 // per degree of how well the element is explained
)

// score rates an atom as the explanation of a text in its context; 0 refuses it.
func (e *explainer) score(a *atom, c *situation) int {
	if a.after != "" && !strings.HasPrefix(c.follows, a.after) || c.numeric && a.form != "" {
		return 0
	}
	points := 0
	if a.form != "" {
		points = scoreForm
	}
	if a.param != nil {
		return e.scorePrompt(a, c, points)
	}
	return e.scoreOutput(a, c, points)
}

func (e *explainer) scorePrompt(a *atom, c *situation, points int) int {
	short := len(a.text) < 2 && !c.whole
	if short && !anyRelated(c.nearWords(), words.Segments(a.param.label)) {
		return 0
	}
	return scorePrompt + points
}

func (c *situation) nearWords() []string {
	if c.near == nil {
		c.near = nearest(c.label)
	}
	return c.near
}

func (e *explainer) scoreOutput(a *atom, c *situation, points int) int {
	p := a.place
	if trivial(a.text) {
		return 0
	}
	link := c.link(p)
	used := p.Element() != "" && e.used[p.Element()]
	isStrong := strong(a.text, p.Kind)
	switch {
	case link < a.minLink:
		return 0
	case isStrong && (c.whole || digits(a.text)):
	case link >= linkOwner, link == linkLoose && c.whole && len(a.text) > 1:
	case used && (isStrong || c.whole && len(a.text) >= minStrong):
	case isStrong && e.quality(p) > pickIndex:
	default:
		return 0
	}
	pick := e.quality(p)
	points += 1 + scoreLink*link + scorePick*pick + 2*scorePick
	if used {
		points += scoreElement
	}
	return max(points, 1)
}

func digits(text string) bool { return strings.ContainsAny(text, "0123456789") }
