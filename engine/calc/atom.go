package calc

import (
	"math"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/bir-run/bir/engine/source"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// atom is a text that an input may contain, and how a body makes it: a parameter
// or a threaded value, in some form.
type atom struct {
	text    string
	form    string // JavaScript with # for the value; empty for the value as it is
	param   *candidate
	place   *source.Place
	minLink int    // how clearly the words around must speak of it
	after   string // what must follow it in the text
}

// situation is what stands around the text that is being explained.
type situation struct {
	key     string   // the input's key
	label   string   // the text before it on its line
	follows string   // the text after it
	whole   bool     // it is the whole leaf
	step    int      // of the input
	numeric bool     // the leaf is a JSON number
	near    []string // words of label, the nearest first; filled on demand
}

// index finds atoms by their whole text, and texts by the word they start with.
type index struct {
	atoms map[string][]*atom
	first map[string][]string
}

func newIndex() *index {
	return &index{atoms: map[string][]*atom{}, first: map[string][]string{}}
}

func (x *index) add(a *atom) {
	if a.text == "" {
		return
	}
	if len(x.atoms[a.text]) == 0 {
		word := words.First(a.text)
		x.first[word] = append(x.first[word], a.text)
	}
	x.atoms[a.text] = append(x.atoms[a.text], a)
}

// startingAt lists the indexed texts that stand at the start of a text, cut off
// between words.
func (x *index) startingAt(text string) []string {
	var found []string
	for _, candidate := range x.first[words.First(text)] {
		if strings.HasPrefix(text, candidate) && words.Boundary(text, len(candidate)) {
			found = append(found, candidate)
		}
	}
	return found
}

// promptAtoms are the forms in which a value of the prompt may stand in an input.
func promptAtoms(c *candidate) []*atom {
	atoms := []*atom{{text: c.text, param: c}}
	if c.number {
		return atoms
	}
	for _, f := range textForms(c.text) {
		atoms = append(atoms, &atom{text: f.text, form: f.form, param: c})
	}
	return append(atoms, pieces(c)...)
}

type form struct{ text, form string }

func textForms(text string) []form {
	forms := []form{
		{strings.ToUpper(text), "#.toUpperCase()"},
		{strings.ToLower(text), "#.toLowerCase()"},
		{strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), "encodeURIComponent(#)"},
		{strings.ReplaceAll(text, " ", "-"), `#.replaceAll(" ", "-")`},
		{strings.ToLower(strings.ReplaceAll(text, " ", "-")), `#.toLowerCase().replaceAll(" ", "-")`},
	}
	if isoDate.MatchString(text) {
		forms = append(forms,
			form{strings.ReplaceAll(text, "-", "/"), `#.replaceAll("-", "/")`},
			form{strings.ReplaceAll(text, "-", ""), `#.replaceAll("-", "")`},
			form{text[:7], "#.slice(0, 7)"}, form{text[:4], "#.slice(0, 4)"})
	}
	var differing []form
	seen := map[string]bool{text: true}
	for _, f := range forms {
		if !seen[f.text] {
			seen[f.text] = true
			differing = append(differing, f)
		}
	}
	return differing
}

var isoDate = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

// pieces are the parts of a path or URL in the prompt.
func pieces(c *candidate) []*atom {
	if !strings.Contains(c.text, "/") || strings.ContainsAny(c.text, " \n") {
		return nil
	}
	var atoms []*atom
	segments := strings.Split(c.text, "/")
	for i, segment := range segments {
		if len(segment) < 2 || strings.HasSuffix(segment, ":") {
			continue
		}
		js := `#.split("/")[` + strconv.Itoa(i) + `]`
		if i == len(segments)-1 {
			js = `#.split("/").pop()`
		}
		atoms = append(atoms, &atom{text: segment, form: js, param: c})
	}
	if dir := strings.LastIndex(c.text, "/"); dir > 0 && !strings.HasSuffix(c.text[:dir], "/") {
		atoms = append(atoms, &atom{text: c.text[:dir], form: `#.slice(0, #.lastIndexOf("/"))`, param: c})
	}
	return atoms
}

// linkClear and linkSame say how clearly words around a value speak of its key.
const (
	linkNone  = 0
	linkLoose = 1 // by a word that says little, such as id
	linkOwner = 2 // by what it belongs to
	linkKey   = 3 // by its key
)

// outputAtoms are the forms in which a value of an output may stand in an input.
func outputAtoms(p *source.Place) []*atom {
	if p.Kind == value.Number {
		return numberAtoms(p)
	}
	atoms := []*atom{{text: p.Text, place: p}}
	if len(p.Text) < 4 || len(p.Text) > 64 || p.Line != nil {
		return atoms
	}
	for _, f := range textForms(p.Text) {
		atoms = append(atoms, &atom{text: f.text, form: f.form, place: p})
	}
	if i := strings.LastIndex(p.Text, "/"); i >= 0 && i < len(p.Text)-2 && !strings.ContainsAny(p.Text, " \n") {
		atoms = append(atoms, &atom{text: p.Text[i+1:], form: `#.split("/").pop()`, place: p})
	}
	return atoms
}

// numberAtoms: a body reads a number and prints it, so 1.50 becomes 1.5 unless
// the body says how many digits it wants.
func numberAtoms(p *source.Place) []*atom {
	rendered, exact := value.JavaScript(p.Text)
	if rendered == p.Text {
		return append([]*atom{{text: p.Text, place: p}}, roundedAtoms(p)...)
	}
	if _, fraction, ok := strings.Cut(p.Text, "."); exact && ok && !strings.ContainsAny(fraction, "eE") {
		return []*atom{{text: p.Text, form: "#.toFixed(" + strconv.Itoa(len(fraction)) + ")", place: p}}
	}
	return nil
}

func roundedAtoms(p *source.Place) []*atom {
	n, err := strconv.ParseFloat(p.Text, 64)
	if err != nil {
		return nil
	}
	var atoms []*atom
	if n > 0 && n <= 1 {
		atoms = append(atoms, &atom{
			text: strconv.FormatFloat(math.Round(n*100), 'f', -1, 64), form: "Math.round(# * 100)",
			place: p, minLink: linkOwner, after: "%",
		})
	}
	_, fraction, _ := strings.Cut(p.Text, ".")
	for digits := range 4 {
		if digits != len(fraction) {
			text := strconv.FormatFloat(n, 'f', digits, 64)
			atoms = append(atoms, &atom{text: text, form: "#.toFixed(" + strconv.Itoa(digits) + ")", place: p, minLink: linkOwner})
		}
	}
	return atoms
}
