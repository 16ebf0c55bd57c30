package calc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/source"
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
	var members []js.Member
	for _, p := range e.threads {
		if p.Doc.Step == step {
			members = append(members, js.Member{Key: p.Name, Expr: w.place(p)})
		}
	}
	if len(members) == 0 {
		return "return {};"
	}
	w.lines = append(w.lines, "return "+js.Object(members, "")+";")
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

func (w *outputWriter) place(p *source.Place) string {
	access := p.Doc.Access
	if strings.HasPrefix(access, "result") {
		w.define("result", "result", "JSON.parse(toolOutput)")
	}
	if p.Line != nil {
		return w.line(p, access)
	}
	if !p.Doc.Parsed {
		access = w.define(p.Doc.ID(), "data", "JSON.parse("+access+")")
	}
	return w.walk(p, access)
}

// walk reads along a path; each array on the way becomes a constant, and so does
// the element that is taken from it.
func (w *outputWriter) walk(p *source.Place, expr string) string {
	what := p.Doc.Name
	for i, h := range p.Path {
		last := i == len(p.Path)-1
		if h.Index >= 0 {
			expr = w.element(p, i, expr, what)
			what = source.Singular(what)
			if last {
				return expr
			}
			continue
		}
		what = h.Key
		expr = w.key(p, i, expr)
		if !last && p.Path[i+1].Index < 0 {
			expr = "need(" + expr + ", " + js.Quote(h.Key) + ")"
		}
	}
	return "need(" + expr + ", " + js.Quote(describeField(what, p)) + ")"
}

// key reads a property, under the name that the prompt or an earlier output gives
// where the key is such a name.
func (w *outputWriter) key(p *source.Place, at int, object string) string {
	key := p.Path[at].Key
	if c := w.e.named(key); c != nil && c.name != "" {
		return object + "[" + js.Access("params", c.name) + "]"
	}
	for _, t := range w.e.threads {
		if t.Doc.Step < p.Doc.Step && t.Text == key && t.Kind == value.String && strong(key, t.Kind) {
			return object + "[" + js.Access("respParams", t.Name) + "]"
		}
	}
	return js.Access(object, key)
}

func describeField(what string, p *source.Place) string {
	if owner := p.Owner(); owner != "" && owner != what && p.Element() != "" {
		return what + " of the " + owner
	}
	return what
}

// element writes the array and the choice of one element.
func (w *outputWriter) element(p *source.Place, at int, expr, what string) string {
	id := p.Doc.ID() + source.PathText(p.Path[:at])
	plural := words.Camel(words.Segments(what)...)
	one := words.Camel(words.Segments(source.Singular(what))...)
	if one == plural {
		one += "Item"
	}
	array := w.define(id, plural, "need("+expr+", "+js.Quote(what)+")")
	s := w.e.selection(p, at)
	element := id + "[" + strconv.Itoa(p.Path[at].Index) + "]"
	if s.how == byMatch {
		condition := "(" + one[:1] + ") => " + s.filter.condition(one[:1])
		return w.define(element, one, "need("+array+".find("+condition+"), "+js.Quote("matching "+source.Singular(what))+")")
	}
	if s.filter != nil {
		array = w.filtered(id, array, one, s)
	}
	return w.define(element, one, choose(array, source.Singular(what), s))
}

func (w *outputWriter) filtered(id, array, one string, s *selection) string {
	condition := s.filter.condition(one[:1])
	return w.define(id+" where "+condition, "matching", array+".filter(("+one[:1]+") => "+condition+")")
}

func (eq *equality) condition(element string) string {
	known := ""
	if eq.param != nil {
		known = js.Access("params", eq.param.name)
	} else {
		known = js.Access("respParams", eq.thread.Name)
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
		return fmt.Sprintf("need(%s[%s.length - 1], %s)", array, array, js.Quote("last "+what))
	case byExtreme:
		return extremeOf(array, what, s)
	case byIndex:
		return fmt.Sprintf("need(%s[%d], %s)", array, s.index, js.Quote(fmt.Sprintf("%s number %d", what, s.index+1)))
	}
	return fmt.Sprintf("need(%s[0], %s)", array, js.Quote(what))
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
)`, array, field, kind, field, sign, field, js.Quote(what+" with a "+s.field))
}

// line reads from a plain text.
func (w *outputWriter) line(p *source.Place, access string) string {
	id := p.Doc.ID()
	text := access
	if access != "toolOutput" {
		text = w.define(id, "text", access)
	}
	switch p.Line.Pick {
	case source.Whole:
		return "need(" + text + ", " + js.Quote("text") + ")"
	case source.Trimmed:
		return "need(" + text + ".trim(), " + js.Quote("text") + ")"
	}
	lines := w.define(id+" lines", "lines", text+`.trimEnd().split("\n")`)
	switch {
	case p.Line.Pick == source.Field:
		prefix := js.Quote(p.Line.Key + ": ")
		return fmt.Sprintf("need(lines.find((line) => line.startsWith(%s))?.slice(%s.length).trim(), %s)",
			prefix, prefix, js.Quote("line "+strconv.Quote(p.Line.Key)))
	case p.Line.N == p.Line.Count-1:
		return fmt.Sprintf("need(%s[%s.length - 1], %s)", lines, lines, js.Quote("last line"))
	}
	return fmt.Sprintf("need(%s[%d], %s)", lines, p.Line.N, js.Quote(fmt.Sprintf("line %d", p.Line.N+1)))
}

// describe says for people what an output body takes from its output.
func (e *explainer) describeOutput(step int) string {
	var texts []string
	seen := map[string]bool{}
	for _, p := range e.threads {
		if p.Doc.Step != step {
			continue
		}
		for i, h := range p.Path {
			id := p.Doc.ID() + source.PathText(p.Path[:i+1])
			if h.Index >= 0 && !seen[id] {
				seen[id] = true
				texts = append(texts, "From "+p.ArrayName(i)+" it takes "+e.selection(p, i).describe()+".")
			}
		}
	}
	return strings.Join(texts, " ")
}
