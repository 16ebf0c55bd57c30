// Package injectionguard holds the rules of the built-in injection guard: whether
// a value that was derived for this turn may stand where its recorded sample
// stood. It looks at the two values and at what the plan does with them. It is not
// told which command or query the value goes into, so it tries the places that there
// are (file syntax.go) and asks that the value leaves the syntax of each
// as the sample did.
//
// Why compare with the sample? The sample went through this place once and did no
// harm there, so what it holds is known to be safe. A value may be as free as its
// sample and no freer.
//
// Why rules for plans that run nothing, when the reference has none? A value often
// becomes part of a path: "eu-west" in /data/eu-west/devices.json. With
// "../../etc" a plan that only reads would read another file than the one that was
// asked for, and a file written today may be run tomorrow. So where the sample is a
// bare identifier or a path, the value must be one too (code shape_identifier,
// shape_path), whatever the risk. Prose stays free.
package injectionguard

import (
	"bytes"
	"maps"
	"slices"
	"strconv"

	"github.com/bir-run/bir/sandbox/guardsdk"
	"github.com/bir-run/bir/sandbox/internal/rawjson"
)

// Codes of the denials.
const (
	CodeUnreadable = "unreadable_value"  // not JSON
	CodeTooLarge   = "too_large"         // more than can be looked at
	CodeType       = "shape_type"        // another JSON type, other keys, a number that is none any more
	CodeLineBreak  = "line_break"        // a line break or NUL
	CodeControl    = "control_character" // another control, or a character that is not seen
	CodeShell      = "metacharacter"     // a character that shells or SQL give a meaning
	CodeOption     = "leading_dash"      // a word that reads as an option
	CodeEncoded    = "encoded"           // something else once a tool has decoded it
	CodeForm       = "shape_form"        // the sample is a date, an address, a URL, and this is not, or of another host
	CodeStructure  = "shape_characters"  // white space, glob, brace or the like that the sample has not
	CodeLookalike  = "lookalike"         // letters of two alphabets in one word, or typographic signs
	CodeSyntax     = "shape_syntax"      // changes the syntax of a command or a query around it
	CodeTraversal  = "path_traversal"    // leads out of the folder
	CodeIdentifier = "shape_identifier"  // the sample is a bare identifier and this is not
	CodePath       = "shape_path"        // the sample is a path and this is not, or from elsewhere
)

// What is looked at in one value.
const (
	maxDepth       = 32
	maxLeaves      = 10_000
	maxStringBytes = 64 << 10 // of a string that is run
)

// Check answers a value question. A plan whose risk it does not know is judged as
// one that runs its values.
func Check(req guardsdk.Request) guardsdk.Verdict {
	value, err := decode(req.Value)
	if err != nil {
		return guardsdk.Denied(CodeUnreadable, "the value is not JSON")
	}
	sample, err := decode(req.Sample)
	if err != nil {
		return guardsdk.Denied(CodeUnreadable, "the recorded sample is not JSON")
	}
	if bytes.Equal(req.Value, req.Sample) {
		return guardsdk.Allowed() // of whatever depth
	}
	c := comparison{rules: rulesFor(req.Plan.Risk)}
	f := c.compare(value, sample)
	if f == nil {
		return guardsdk.Allowed()
	}
	where := ""
	if f.place != "" {
		where = " at " + f.place
	}
	return guardsdk.Denied(f.code, "parameter "+strconv.Quote(req.Parameter)+where+" "+f.words+"; accepted is "+f.accepted)
}

// fault is why a value is refused. Its words never hold the value, only a single
// character of it that the rules name and where it stands.
type fault struct {
	code, words string
	accepted    string // what would have been
	place       string // in a list or an object
}

// rule judges one string, or the text of one number, against its sample. It gets
// the classes of characters in the value, so as not to look for what is not there.
type rule func(value, sample string, has class) *fault

func rulesFor(risk guardsdk.Risk) []rule {
	switch risk {
	case guardsdk.RiskNone:
		return []rule{asIdentifier, asPath}
	case guardsdk.RiskWrites:
		return []rule{lineBreaks, asIdentifier, asPath}
	}
	return append(characters(), asIdentifier, asPath, form, syntaxes)
}

// characters are the rules about single characters. What a tool decodes is judged by
// them too.
func characters() []rule {
	return []rule{length, lineBreaks, unseen, metacharacters, options, numbers, encoded, structure, lookalikes}
}

// decode reads JSON; nothing at all stands for null.
func decode(raw []byte) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	return rawjson.Parse(raw)
}

// comparison goes through one value.
type comparison struct {
	rules  []rule
	leaves int
	depth  int
}

// compare holds every leaf of the value against the leaf of the sample in its
// place.
func (c *comparison) compare(value, sample any) *fault {
	c.depth++
	defer func() { c.depth-- }()
	if c.leaves++; c.leaves > maxLeaves || c.depth > maxDepth {
		return &fault{code: CodeTooLarge, words: "has more parts than can be looked at", accepted: "a smaller value"}
	}
	switch v := value.(type) {
	case string:
		s, ok := sample.(string)
		if !ok && sample != nil {
			return typeFault(sample)
		}
		return c.judge(v, s)
	case rawjson.Number:
		s, ok := sample.(rawjson.Number)
		if !ok {
			return typeFault(sample)
		}
		return c.judge(string(v), string(s))
	case bool:
		if _, ok := sample.(bool); !ok {
			return typeFault(sample)
		}
		return nil
	case []any:
		return c.arrays(v, sample)
	case map[string]any:
		return c.objects(v, sample)
	}
	if sample == nil {
		return nil
	}
	return typeFault(sample) // null where the sample was something
}

func (c *comparison) judge(value, sample string) *fault {
	if value == sample {
		return nil
	}
	has := classesIn(value)
	for _, r := range c.rules {
		if f := r(value, sample, has); f != nil {
			if f.accepted == "" {
				f.accepted = c.acceptedFor(sample)
			}
			return f
		}
	}
	return nil
}

// arrays lets the number of elements differ. Elements past the sample's last are
// held against that one.
func (c *comparison) arrays(value []any, sample any) *fault {
	samples, ok := sample.([]any)
	if !ok {
		return typeFault(sample)
	}
	for i, v := range value {
		var s any
		if len(samples) > 0 {
			s = samples[min(i, len(samples)-1)]
		}
		if f := c.compare(v, s); f != nil {
			f.place = "[" + strconv.Itoa(i) + "]" + f.place
			return f
		}
	}
	return nil
}

func (c *comparison) objects(value map[string]any, sample any) *fault {
	samples, ok := sample.(map[string]any)
	if !ok {
		return typeFault(sample)
	}
	for _, key := range slices.Sorted(maps.Keys(value)) { // in order, so that the same value gets the same words
		s, ok := samples[key]
		if !ok {
			return &fault{code: CodeType, words: "has a key that it had not in the recording", accepted: "an object with the recorded keys"}
		}
		if f := c.compare(value[key], s); f != nil {
			f.place = "." + key + f.place
			return f
		}
	}
	return nil
}

func typeFault(sample any) *fault {
	name := "null"
	switch sample.(type) {
	case string:
		name = "a string"
	case rawjson.Number:
		name = "a number"
	case bool:
		name = "true or false"
	case []any:
		name = "a list"
	case map[string]any:
		name = "an object"
	}
	return &fault{code: CodeType, words: "is of another type than in the recording", accepted: name}
}

// acceptedFor says what would do in the place of the sample, without the sample.
func (c *comparison) acceptedFor(sample string) string {
	switch {
	case isNumber(sample):
		return "a number"
	case formOf(sample).name != "":
		return formOf(sample).name
	case isIdentifier(sample):
		return "a bare name: letters, digits, dots, underscores and dashes that do not come first"
	case isPath(sample):
		return "a path from the same place and of the same depth, without .."
	case len(c.rules) > 4:
		return "plain text with no other signs than the recorded value had, and none of " + shownSigns
	}
	return "text on one line"
}

// shownSigns are the ones of always that a keyboard has.
const shownSigns = "; | & ` $ < > ' \" \\"
