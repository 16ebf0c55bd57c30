package calc

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// candidate is a piece of the prompt that may be a parameter. It becomes one when
// an input uses it.
type candidate struct {
	text    string
	label   string // the noun before it, "region"; empty without one
	start   int
	end     int
	number  bool
	setting bool
	name    string // the parameter's name, once it is used
}

var (
	numeric    = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	repository = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*/[\w.-]+$`)
	dateLike   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)
)

// candidates are the tokens of a prompt that look like values and not like prose.
func candidates(tokens []words.Token) []*candidate {
	var found []*candidate
	for i := range tokens {
		if valueLike(tokens, i) {
			found = append(found, newCandidate(tokens, i, i))
		}
	}
	return found
}

func newCandidate(tokens []words.Token, first, last int) *candidate {
	c := &candidate{start: tokens[first].Start, end: tokens[last].End}
	c.text = tokens[first].Text
	c.label = labelBefore(tokens, first)
	rendered, exact := "", false
	if numeric.MatchString(c.text) {
		rendered, exact = value.JavaScript(c.text)
	}
	c.number = first == last && !tokens[first].Quoted && exact && rendered == c.text
	c.setting = words.SettingLabel(c.label) || words.Format(c.text)
	return c
}

func valueLike(tokens []words.Token, i int) bool {
	token := tokens[i]
	if token.Quoted || written(token.Text) {
		return true
	}
	if i > 0 && words.Format(token.Text) && words.Stop(tokens[i-1].Text) {
		return true
	}
	return i > 0 && (capitalised(token.Text) || named(tokens, i))
}

// written tells values by how they are written: with digits, signs inside, or in
// mixed case. No prose word looks like that.
func written(text string) bool {
	if strings.ContainsAny(text, "0123456789/@_:\\") {
		return true
	}
	if strings.Contains(strings.Trim(text, ".-"), ".") {
		return true
	}
	if strings.Contains(strings.Trim(text, "-"), "-") {
		return true
	}
	inner := strings.TrimLeftFunc(text, unicode.IsUpper)
	return inner != "" && strings.IndexFunc(inner, unicode.IsUpper) >= 0
}

func capitalised(text string) bool {
	return len(text) > 1 && unicode.IsUpper([]rune(text)[0]) && !words.Stop(text) && !words.Verb(text)
}

// named tells that a plain word is a value by the words before it: "region
// berlin", "in berlin". A word that itself names the next one is no value.
func named(tokens []words.Token, i int) bool {
	word, before := tokens[i].Text, tokens[i-1]
	if words.Stop(word) || words.Verb(word) || words.Label(word) || before.Breaks {
		return false
	}
	if words.Label(before.Text) {
		return true
	}
	last := i == len(tokens)-1 || tokens[i].Breaks || words.Stop(tokens[i+1].Text)
	return words.Preposition(before.Text) && last
}

func labelBefore(tokens []words.Token, i int) string {
	for j := i - 1; j >= 0 && j >= i-2; j-- {
		before := tokens[j]
		if before.Quoted || before.Breaks {
			return ""
		}
		word := strings.ToLower(before.Text)
		if words.Stop(word) && !words.SettingLabel(word) {
			if words.Preposition(word) {
				return ""
			}
			continue
		}
		known := words.Label(word) || words.SettingLabel(word)
		if words.Verb(word) || written(before.Text) || capitalised(before.Text) && j > 0 || !known && len(word) < minStrong {
			return ""
		}
		return word
	}
	return ""
}

// phrase makes a candidate of any text that the prompt contains in whole words.
func (e *explainer) phrase(text string) *candidate {
	if c, known := e.phrases[text]; known || strings.TrimSpace(text) == "" {
		return c
	}
	first, last := -1, -1
	for i, token := range e.tokens {
		rest := e.rec.Prompt[token.Start:]
		if first < 0 && strings.HasPrefix(rest, text) && words.Boundary(rest, len(text)) {
			first = i
		}
		if first >= 0 && token.Start < e.tokens[first].Start+len(text) {
			last = i
		}
	}
	var c *candidate
	if first >= 0 {
		c = newCandidate(e.tokens, first, last)
		c.text, c.end = text, c.start+len(text)
	}
	e.phrases[text] = c
	return c
}

// param makes a parameter of a candidate and says how a body reads it.
func (e *explainer) param(c *candidate, key string) string {
	if c.name == "" {
		c.setting = c.setting || settingKey(key) && c.number
		c.name = e.uniqueName(paramName(c, key), "")
		e.params = append(e.params, c)
	}
	return js.Access("params", c.name)
}

func settingKey(key string) bool {
	for _, segment := range words.Segments(key) {
		if words.SettingLabel(segment) {
			return true
		}
	}
	return false
}

// vague are input keys that say nothing of the value.
var vague = map[string]bool{"path": true, "content": true, "text": true, "value": true, "data": true, "input": true, "": true}

func paramName(c *candidate, key string) string {
	switch {
	case c.label != "" && words.Camel(words.Segments(c.label)...) != "":
		return words.Camel(words.Segments(c.label)...)
	case strings.Contains(c.text, "://"):
		return "url"
	case strings.Contains(c.text, "@") && !strings.Contains(c.text, "/"):
		return "email"
	case repository.MatchString(c.text):
		return "repo"
	case !vague[key] && words.Camel(words.Segments(key)...) != "":
		return words.Camel(words.Segments(key)...)
	case dateLike.MatchString(c.text):
		return "date"
	case strings.ContainsAny(c.text, "/\\"):
		return "path"
	case c.number:
		return "number"
	case words.Format(c.text):
		return "format"
	}
	return "subject"
}

func (c *candidate) describe(prompt string) engine.Param {
	p := engine.Param{Kind: engine.KindTarget, Type: "string", SampleValue: []byte(js.Quote(c.text))}
	if c.setting {
		p.Kind = engine.KindSetting
	}
	if c.number {
		p.Type, p.SampleValue = "number", []byte(c.text)
	}
	before := lastWord(strings.TrimRight(prompt[:c.start], "\"'`“„«"))
	switch {
	case c.label != "":
		p.Description = fmt.Sprintf("the %s, %q in the prompt", c.label, c.text)
	case before != "":
		p.Description = fmt.Sprintf("%q in the prompt, after %q", c.text, before)
	default:
		p.Description = fmt.Sprintf("%q in the prompt", c.text)
	}
	return p
}

func lastWord(text string) string {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return ""
	}
	return fields[len(fields)-1]
}
