package calc

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/source"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// explainer goes through a recording once, step by step: each input is explained
// by the prompt and by the outputs before it, then the step's own output joins.
type explainer struct {
	rec        engine.Recording
	calls      []engine.Call
	frozen     map[int]string // steps that could not be proved, and why
	muted      map[int]string // steps whose output is not to be read, and why
	tokens     []words.Token
	candidates []*candidate
	phrases    map[string]*candidate
	index      *index
	selections map[string]*selection
	used       map[string]bool // elements that values are already taken from
	params     []*candidate
	threads    []*source.Place
	names      map[string]bool
	steps      []*explanation
}

// explanation is what is known of one step.
type explanation struct {
	input    string   // the body
	literal  bool     // the input is made of nothing but recorded values
	frozen   string   // why the input is the recorded one
	fixed    []string // small numbers that stand beside computed values in a text
	sources  []string // for people
	unknown  []string // recorded values in it that look like data and come from nowhere
	composed string   // the key of a long text that holds nothing known
	inputKey string   // the key that is being explained
}

func newExplainer(rec engine.Recording, calls []engine.Call, frozen, muted map[int]string) *explainer {
	e := &explainer{
		rec: rec, calls: calls, frozen: frozen, muted: muted,
		tokens:  words.Tokens(rec.Prompt),
		phrases: map[string]*candidate{}, selections: map[string]*selection{},
		index: newIndex(), used: map[string]bool{}, names: map[string]bool{},
	}
	e.candidates = candidates(e.tokens)
	for _, c := range e.candidates {
		e.phrases[c.text] = c
		for _, a := range promptAtoms(c) {
			e.index.add(a)
		}
	}
	return e
}

func (e *explainer) explainAll() error {
	for i, call := range e.calls {
		input, err := value.Parse(call.Input)
		if err != nil {
			return fmt.Errorf("read the input of step %d: %w", i+1, err)
		}
		e.steps = append(e.steps, e.explainStep(i, input, call))
		e.addOutput(i, input, call)
	}
	e.explainAnswer()
	return nil
}

func (e *explainer) explainStep(i int, input *value.Node, call engine.Call) *explanation {
	x := &explanation{frozen: e.frozen[i]}
	e.steps = append(e.steps, x)
	defer func() { e.steps = e.steps[:i] }()
	if x.frozen == "" {
		params, threads := len(e.params), len(e.threads)
		body := e.node(x, "", input, "")
		x.literal = len(x.sources) == 0
		x.input = "return " + body + ";"
		if reason := e.suspicion(i, x); reason != "" {
			x.frozen = reason
			e.forget(params, threads)
		}
	}
	if x.frozen != "" || x.literal {
		x.input = literalBody(call.Input, input)
	}
	return x
}

// forget takes back what a step asked for that was frozen after all.
func (e *explainer) forget(params, threads int) {
	for _, c := range e.params[params:] {
		delete(e.names, c.name)
		c.name = ""
	}
	for _, p := range e.threads[threads:] {
		delete(e.names, p.Name)
		p.Name = ""
	}
	e.params, e.threads = e.params[:params], e.threads[:threads]
}

// addOutput makes the values of a step's output known to later steps. What the
// call's own input already had is an echo and explains nothing.
func (e *explainer) addOutput(i int, input *value.Node, call engine.Call) {
	if call.Truncated || e.muted[i] != "" {
		return
	}
	var given []string
	source.EachLeaf(input, func(_ string, leaf *value.Node) { given = append(given, leaf.Text) })
	for _, doc := range source.Documents(i, call, input) {
		for _, p := range doc.Places() {
			if echo(given, p.Text) {
				continue
			}
			for _, a := range outputAtoms(p) {
				e.index.add(a)
			}
		}
	}
}

func echo(given []string, text string) bool {
	return slices.ContainsFunc(given, func(input string) bool {
		if len(text) < minStrong {
			return input == text
		}
		for at := 0; ; {
			i := strings.Index(input[at:], text)
			if i < 0 {
				return false
			}
			if words.Boundary(input, at+i) && words.Boundary(input, at+i+len(text)) {
				return true
			}
			_, size := utf8.DecodeRuneInString(input[at+i:])
			at += i + size
		}
	})
}

// node explains one value of an input and writes the expression that makes it.
func (e *explainer) node(x *explanation, key string, n *value.Node, indent string) string {
	switch n.Kind {
	case value.Object:
		var members []js.Member
		for i, name := range n.Keys {
			members = append(members, js.Member{Key: name, Expr: e.node(x, name, n.Items[i], indent+"  ")})
		}
		return js.Object(members, indent)
	case value.Array:
		var elements []string
		for _, item := range n.Items {
			elements = append(elements, e.node(x, key, item, indent+"  "))
		}
		return js.Array(elements, indent)
	case value.String:
		return e.text(x, key, n.Text, indent)
	case value.Number:
		return e.number(x, key, n)
	}
	return js.Literal(n, indent)
}

func (e *explainer) number(x *explanation, key string, n *value.Node) string {
	c := &situation{key: key, whole: true, numeric: true, step: len(e.steps) - 1}
	if a := e.best(e.index.atoms[n.Text], c); a != nil {
		expr := e.use(x, key, a)
		if a.param != nil && !a.param.number || a.place != nil && a.place.Kind != value.Number {
			return "Number(" + expr + ")"
		}
		return expr
	}
	if strong(n.Text, value.Number) && len(n.Text) > minStrong {
		x.unknown = append(x.unknown, n.Text)
	}
	return n.Text
}

// text explains a string: as a whole first, then piece by piece.
func (e *explainer) text(x *explanation, key, text, indent string) string {
	c := &situation{key: key, whole: true, step: len(e.steps) - 1}
	atoms := e.index.atoms[text]
	if p := e.phrase(text); p != nil && e.accepts(p, key) {
		atoms = append([]*atom{{text: text, param: p}}, atoms...)
	}
	if a := e.best(atoms, c); a != nil {
		expr := e.use(x, key, a)
		if a.form == "" && (a.param != nil && a.param.number || a.place != nil && a.place.Kind == value.Number) {
			return "String(" + expr + ")"
		}
		return expr
	}
	parts := e.pieces(x, key, text)
	computed := slices.ContainsFunc(parts, func(p js.Part) bool { return p.Expr != "" })
	if isProse(key, text) && !computed {
		x.composed = key
	}
	if computed {
		x.fixed = append(x.fixed, smallNumbers(parts)...)
	}
	return js.Template(parts, indent)
}

// accepts tells whether a text that the prompt happens to contain is meant: more
// than one word, or a word that looks like a value or is asked for by the key.
func (e *explainer) accepts(c *candidate, key string) bool {
	if slices.Contains(e.candidates, c) {
		return true
	}
	for _, p := range e.params {
		if p != c && p.start < c.end && c.start < p.end {
			return false // two parameters that overlap cannot be told apart in a new prompt
		}
	}
	if c.label != "" && anyRelated(words.Segments(key), words.Segments(c.label)) {
		return true
	}
	return strings.ContainsAny(strings.TrimSpace(c.text), " \t\n") || askedFor[strings.ToLower(key)] && !words.Stop(c.text)
}

// askedFor are keys whose value a user puts in words.
var askedFor = map[string]bool{
	"query": true, "q": true, "search": true, "pattern": true, "keyword": true, "keywords": true, "term": true,
	"city": true, "location": true, "message": true, "title": true, "name": true, "username": true, "topic": true,
}

// pieces cuts a text into recorded words and values that are known, the longest
// first at each position.
func (e *explainer) pieces(x *explanation, key, text string) []js.Part {
	var parts []js.Part
	start := 0
	flush := func(end int) {
		if end > start {
			parts = append(parts, js.Part{Text: text[start:end]})
			x.unknown = append(x.unknown, dataIn(text[start:end])...)
		}
	}
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRuneInString(text[at:])
		if a := e.bestAt(key, text, start, at); a != nil {
			flush(at)
			parts = append(parts, js.Part{Expr: e.use(x, key, a)})
			at += len(a.text)
			start = at
			continue
		}
		at += size
	}
	flush(len(text))
	return parts
}

func (e *explainer) bestAt(key, text string, start, at int) *atom {
	if !words.Boundary(text, at) {
		return nil
	}
	var best *atom
	for _, candidate := range e.index.startingAt(text[at:]) {
		end := at + len(candidate)
		if best != nil && len(candidate) <= len(best.text) || numeric.MatchString(candidate) && !standsAlone(text, at, end) {
			continue
		}
		c := &situation{key: key, label: labelOf(text[start:at]), follows: text[end:], step: len(e.steps) - 1}
		if a := e.best(e.index.atoms[candidate], c); a != nil {
			best = a
		}
	}
	return best
}

// labelOf is what stands before a value on its line.
func labelOf(text string) string {
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// standsAlone keeps a number from being cut out of a date, a version or an id.
func standsAlone(text string, start, end int) bool {
	if start > 0 && strings.ContainsRune("-._", rune(text[start-1])) {
		return false
	}
	if end >= len(text) {
		return true
	}
	if text[end] == '.' || text[end] == ',' {
		return end+1 >= len(text) || text[end+1] < '0' || text[end+1] > '9'
	}
	return text[end] != '-' && text[end] != '_'
}

// maxAlike bounds how many places of the same text are weighed, besides those in
// elements that are used already.
const maxAlike = 64

func (e *explainer) best(atoms []*atom, c *situation) *atom {
	var best *atom
	top := 0
	for i, a := range atoms {
		if i >= maxAlike && (a.place == nil || !e.used[a.place.Element()]) {
			continue
		}
		if points := e.score(a, c); points > top {
			best, top = a, points
		}
	}
	return best
}
