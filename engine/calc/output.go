package calc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// outputWriter writes the body that reads one output and returns the values that
// later steps need. Missing pieces throw, so that no later input is made of
// undefined.
type outputWriter struct {
	e     *explainer
	lines []string
	vars  map[string]string // identifier by what it stands for
	names map[string]bool   // identifiers in use
}

const needFunction = `const need = (value, what) => {
  if (value === undefined || value === null || value === "") throw new Error(` + "`no ${what} in the output`" + `);
  return value;
};`

// outputBody writes the body for the values threaded from one step.
func (e *explainer) outputBody(step int) string {
	w := &outputWriter{e: e, vars: map[string]string{}, names: map[string]bool{}}
	var members []member
	for _, p := range e.threads {
		if p.doc.step == step {
			members = append(members, member{p.name, w.place(p)})
		}
	}
	if len(members) == 0 {
		return "return {};"
	}
	w.lines = append(w.lines, "return "+objectLiteral(members, "")+";")
	body := strings.Join(w.lines, "\n")
	if strings.Contains(body, "need(") {
		body = needFunction + "\n" + body
	}
	return body
}

// define declares a constant once and gives its name.
func (w *outputWriter) define(id, name, expr string) string {
	if known, ok := w.vars[id]; ok {
		return known
	}
	if name == "" || name == "need" {
		name = "item"
	}
	unique := name
	for n := 2; w.names[unique]; n++ {
		unique = name + strconv.Itoa(n)
	}
	w.names[unique], w.vars[id] = true, unique
	w.lines = append(w.lines, "const "+unique+" = "+expr+";")
	return unique
}

func (w *outputWriter) place(p *place) string {
	source := p.doc.access
	if strings.HasPrefix(source, "result") {
		w.define("result", "result", "JSON.parse(toolOutput)")
	}
	if p.line != nil {
		return w.line(p, source)
	}
	if !p.doc.parsed {
		source = w.define(p.doc.id(), "data", "JSON.parse("+source+")")
	}
	return w.walk(p, source)
}

// walk reads along a path; each array on the way becomes a constant, and so does
// the element that is taken from it.
func (w *outputWriter) walk(p *place, expr string) string {
	what := p.doc.name
	for i, h := range p.path {
		last := i == len(p.path)-1
		if h.index >= 0 {
			expr = w.element(p, i, expr, what)
			what = singular(what)
			if last {
				return expr
			}
			continue
		}
		what = h.key
		expr = w.key(p, i, expr)
		if !last && p.path[i+1].index < 0 {
			expr = "need(" + expr + ", " + quote(h.key) + ")"
		}
	}
	return "need(" + expr + ", " + quote(describeField(what, p)) + ")"
}

// key reads a property, under the name that the prompt or an earlier output gives
// where the key is such a name.
func (w *outputWriter) key(p *place, at int, object string) string {
	key := p.path[at].key
	if c := w.e.named(key); c != nil && c.name != "" {
		return object + "[" + access("params", c.name) + "]"
	}
	for _, t := range w.e.threads {
		if t.doc.step < p.doc.step && t.text == key && t.kind == value.String && strong(key, t.kind) {
			return object + "[" + access("respParams", t.name) + "]"
		}
	}
	return access(object, key)
}

func describeField(what string, p *place) string {
	if owner := p.owner(); owner != "" && owner != what && p.element() != "" {
		return what + " of the " + owner
	}
	return what
}

// element writes the array and the choice of one element.
func (w *outputWriter) element(p *place, at int, expr, what string) string {
	id := p.doc.id() + pathText(p.path[:at])
	plural := words.Camel(words.Segments(what)...)
	one := words.Camel(words.Segments(singular(what))...)
	if one == plural {
		one += "Item"
	}
	array := w.define(id, plural, "need("+expr+", "+quote(what)+")")
	s := w.e.selection(p, at)
	element := id + "[" + strconv.Itoa(p.path[at].index) + "]"
	if s.how == byMatch {
		condition := "(" + one[:1] + ") => " + s.filter.condition(one[:1])
		return w.define(element, one, "need("+array+".find("+condition+"), "+quote("matching "+singular(what))+")")
	}
	if s.filter != nil {
		array = w.filtered(id, array, one, s)
	}
	return w.define(element, one, choose(array, singular(what), s))
}

func (w *outputWriter) filtered(id, array, one string, s *selection) string {
	condition := s.filter.condition(one[:1])
	return w.define(id+" where "+condition, "matching", array+".filter(("+one[:1]+") => "+condition+")")
}

func (eq *equality) condition(element string) string {
	known := ""
	if eq.param != nil {
		known = access("params", eq.param.name)
	} else {
		known = access("respParams", eq.thread.name)
	}
	if eq.field == "" {
		return element + ".includes(" + known + ")"
	}
	field := element + "." + strings.ReplaceAll(eq.field, ".", "?.")
	if eq.asString {
		return "String(" + field + ") === String(" + known + ")"
	}
	return field + " === " + known
}

// choose writes the choice. An empty array gives undefined, which need refuses.
func choose(array, what string, s *selection) string {
	switch s.how {
	case byLast:
		return fmt.Sprintf("need(%s[%s.length - 1], %s)", array, array, quote("last "+what))
	case byExtreme:
		return extremeOf(array, what, s)
	case byIndex:
		return fmt.Sprintf("need(%s[%d], %s)", array, s.index, quote(fmt.Sprintf("%s number %d", what, s.index+1)))
	}
	return fmt.Sprintf("need(%s[0], %s)", array, quote(what))
}

// extremeOf skips the elements without the field: a comparison with undefined is
// always false and would keep the wrong one.
func extremeOf(array, what string, s *selection) string {
	sign := "<"
	if s.max {
		sign = ">"
	}
	field := strings.ReplaceAll(s.field, ".", "?.")
	kind := "number"
	if s.dates {
		kind = "string"
	}
	return fmt.Sprintf(`need(
  %s
    .filter((x) => typeof x.%s === %q)
    .reduce((best, x) => (best === undefined || x.%s %s best.%s ? x : best), undefined),
  %s,
)`, array, field, kind, field, sign, field, quote(what+" with a "+s.field))
}

// line reads from a plain text.
func (w *outputWriter) line(p *place, source string) string {
	id := p.doc.id()
	text := source
	if source != "toolOutput" {
		text = w.define(id, "text", source)
	}
	switch p.line.pick {
	case pickWhole:
		return "need(" + text + ", " + quote("text") + ")"
	case pickTrimmed:
		return "need(" + text + ".trim(), " + quote("text") + ")"
	}
	lines := w.define(id+" lines", "lines", text+`.trimEnd().split("\n")`)
	switch {
	case p.line.pick == pickField:
		prefix := quote(p.line.key + ": ")
		return fmt.Sprintf("need(lines.find((line) => line.startsWith(%s))?.slice(%s.length).trim(), %s)",
			prefix, prefix, quote("line "+strconv.Quote(p.line.key)))
	case p.line.n == p.line.count-1:
		return fmt.Sprintf("need(%s[%s.length - 1], %s)", lines, lines, quote("last line"))
	}
	return fmt.Sprintf("need(%s[%d], %s)", lines, p.line.n, quote(fmt.Sprintf("line %d", p.line.n+1)))
}

// describe says for people what an output body takes from its output.
func (e *explainer) describeOutput(step int) string {
	var texts []string
	seen := map[string]bool{}
	for _, p := range e.threads {
		if p.doc.step != step {
			continue
		}
		for i, h := range p.path {
			id := p.doc.id() + pathText(p.path[:i+1])
			if h.index >= 0 && !seen[id] {
				seen[id] = true
				texts = append(texts, "From "+nameAt(p, i)+" it takes "+e.selection(p, i).describe()+".")
			}
		}
	}
	return strings.Join(texts, " ")
}
