package calc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/source"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// use takes an atom as the explanation and writes the expression for it.
func (e *explainer) use(x *explanation, key string, a *atom) string {
	expr := ""
	if a.param != nil {
		expr = e.param(a.param, key)
		x.note(key, a.param.name+" of the prompt")
	} else {
		expr = js.Access("respParams", e.thread(a.place))
		x.note(key, fmt.Sprintf("%s of step %d", a.place.Name, a.place.Doc.Step+1))
	}
	if a.form == "" {
		return expr
	}
	return strings.ReplaceAll(a.form, "#", expr)
}

func (x *explanation) note(key, source string) {
	text := source
	if key != "" {
		text = key + " uses " + source
		if key == x.inputKey {
			text = source
		}
	}
	for _, known := range x.sources {
		if known == text {
			return
		}
	}
	x.inputKey = key
	x.sources = append(x.sources, text)
}

// thread makes a value of an output known to later bodies under a name.
func (e *explainer) thread(p *source.Place) string {
	if p.Name != "" {
		return p.Name
	}
	for i, h := range p.Path {
		if h.Index < 0 {
			if c := e.named(h.Key); c != nil {
				e.param(c, "")
			}
			continue
		}
		s := e.selection(p, i)
		s.pinned = true
		if s.filter != nil && s.filter.param != nil {
			e.param(s.filter.param, s.filter.field)
		}
	}
	if element := p.Element(); element != "" {
		e.used[element] = true
	}
	p.Name = e.uniqueName(p.Label(), p.Doc.Name)
	e.threads = append(e.threads, p)
	return p.Name
}

// uniqueName makes a name that no parameter or threaded value has: prefixed with
// what it is about, or else numbered.
func (e *explainer) uniqueName(name, about string) string {
	if name == "" {
		name = "value"
	}
	if e.names[name] && about != "" {
		name = words.Camel(append(words.Segments(about), words.Segments(name)...)...)
	}
	unique := name
	for n := 2; e.names[unique]; n++ {
		unique = name + strconv.Itoa(n)
	}
	e.names[unique] = true
	return unique
}

// explainAnswer threads the values that the final answer reports, so that the
// response model has what the user asked for.
func (e *explainer) explainAnswer() {
	if e.rec.Answer == "" || len(e.calls) == 0 {
		return
	}
	x := &explanation{}
	e.steps = append(e.steps, x)
	e.pieces(x, "answer", e.rec.Answer)
	e.steps = e.steps[:len(e.steps)-1]
}

// named is the value of the prompt that a key of an output repeats.
func (e *explainer) named(key string) *candidate {
	for _, c := range e.candidates {
		if c.text == key && !c.number && len(key) >= minStrongNum {
			return c
		}
	}
	return nil
}

var dataToken = regexp.MustCompile(`[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?`)

// dataIn lists the pieces of a literal text that look like data: ids and numbers.
func dataIn(text string) []string {
	var found []string
	for _, token := range dataToken.FindAllString(text, -1) {
		if len(token) >= minStrongNum && digits(token) {
			found = append(found, token)
		}
	}
	return found
}

// smallNumbers are those left in a text that is otherwise computed. They say
// nothing about where they come from, but a reader must know that they stay: "the
// sum is 42" is wrong for other numbers.
func smallNumbers(parts []js.Part) []string {
	var found []string
	for _, p := range parts {
		for _, token := range dataToken.FindAllString(p.Text, -1) {
			if len(token) < minStrongNum && strings.Trim(token, "0123456789.") == "" && digits(token) {
				found = append(found, token)
			}
		}
	}
	return found
}

const (
	proseRunes = 80 // a longer text without a single known value was written by the model
	maxUnknown = 3  // values named in a reason
)

// suspicion says why a step that could be written should still be frozen: its
// input holds what only the model knew, and repeating it would be stale.
func (e *explainer) suspicion(i int, x *explanation) string {
	if i == 0 && e.rec.Prompt == "" {
		return ""
	}
	if cut := e.cutBefore(i); cut >= 0 && len(x.unknown) > 0 {
		return fmt.Sprintf("%s may come from the output of step %d, which was cut when it was recorded", list(x.unknown), cut+1)
	}
	for j := range i {
		if reason := e.muted[j]; reason != "" && len(x.unknown) > 0 {
			return fmt.Sprintf("%s may come from step %d: %s", list(x.unknown), j+1, reason)
		}
	}
	if i > 0 && x.composed != "" {
		return x.composed + " was written by the model: no part of it occurs in the prompt or in an earlier output"
	}
	return ""
}

// isProse tells text that a model composed from paths, ids and code.
func isProse(key, text string) bool {
	return !codeKeys[strings.ToLower(key)] && len([]rune(text)) > proseRunes && strings.ContainsAny(text, " \n")
}

var codeKeys = map[string]bool{"query": true, "sql": true, "code": true, "script": true, "command": true, "expression": true}

func (e *explainer) cutBefore(i int) int {
	for j := range i {
		if e.calls[j].Truncated {
			return j
		}
	}
	return -1
}

func list(items []string) string {
	more := ""
	if len(items) > maxUnknown {
		more = fmt.Sprintf(" and %d more", len(items)-maxUnknown)
		items = items[:maxUnknown]
	}
	var quoted []string
	for _, item := range items {
		quoted = append(quoted, strconv.Quote(item))
	}
	return strings.Join(quoted, ", ") + more
}

// literalBody repeats a recorded input. It is written as JSON, whose text is sent
// as it is, where JavaScript would change a number or a character.
func literalBody(recorded json.RawMessage, input *value.Node) string {
	exact := !bytes.Contains(bytes.ToLower(recorded), []byte(`\ud`))
	source.EachLeaf(input, func(_ string, leaf *value.Node) {
		if leaf.Kind == value.Number {
			rendered, same := value.JavaScript(leaf.Text)
			exact = exact && same && rendered == leaf.Text
		}
	})
	if exact {
		return "return " + js.Literal(input, "") + ";"
	}
	var out bytes.Buffer
	if err := json.Compact(&out, recorded); err != nil {
		return "return " + string(recorded) + ";" // it was parsed before; it is JSON
	}
	return "return " + out.String() + ";"
}
