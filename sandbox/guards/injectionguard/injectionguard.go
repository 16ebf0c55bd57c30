// Package injectionguard holds the rules of the built-in injection guard: whether
// a value that was derived for this turn may stand where its recorded sample
// stood. It looks at the two values and at what the plan does with them, and never
// at what a command or a query means.
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
	"strconv"

	"github.com/bir-run/bir/sandbox/guardsdk"
	"github.com/bir-run/bir/sandbox/internal/rawjson"
)

// Codes of the denials.
const (
	CodeUnreadable = "unreadable_value"  // not JSON
	CodeType       = "shape_type"        // another JSON type, other keys, a number that is none any more
	CodeLineBreak  = "line_break"        // a line break or NUL
	CodeControl    = "control_character" // another control, or a character that is not seen
	CodeShell      = "metacharacter"     // a character that shells or SQL give a meaning
	CodeOption     = "leading_dash"      // a word that reads as an option
	CodeStructure  = "shape_characters"  // white space, glob, brace or the like that the sample has not
	CodeLookalike  = "lookalike"         // letters of two alphabets in one word, or typographic signs
	CodeTraversal  = "path_traversal"    // leads out of the folder
	CodeIdentifier = "shape_identifier"  // the sample is a bare identifier and this is not
	CodePath       = "shape_path"        // the sample is a relative path and this is not
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
	fault := compare(value, sample, rulesFor(req.Plan.Risk))
	if fault == nil {
		return guardsdk.Allowed()
	}
	return guardsdk.Denied(fault.code, "parameter "+strconv.Quote(req.Parameter)+" "+fault.words)
}

// fault is why a value is refused. Its words never hold the value, only a single
// character of it that the rules name.
type fault struct{ code, words string }

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
	return []rule{lineBreaks, unseen, metacharacters, options, numbers, structure, lookalikes, asIdentifier, asPath}
}

// decode reads JSON; nothing at all stands for null.
func decode(raw []byte) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	return rawjson.Parse(raw)
}

// compare holds every leaf of the value against the leaf of the sample in its
// place.
func compare(value, sample any, rules []rule) *fault {
	switch v := value.(type) {
	case string:
		s, ok := sample.(string)
		if !ok && sample != nil {
			return typeFault(sample)
		}
		return judge(v, s, rules)
	case rawjson.Number:
		s, ok := sample.(rawjson.Number)
		if !ok {
			return typeFault(sample)
		}
		return judge(string(v), string(s), rules)
	case bool:
		if _, ok := sample.(bool); !ok {
			return typeFault(sample)
		}
		return nil
	case []any:
		return compareArrays(v, sample, rules)
	case map[string]any:
		return compareObjects(v, sample, rules)
	}
	if sample == nil {
		return nil
	}
	return typeFault(sample) // null where the sample was something
}

func judge(value, sample string, rules []rule) *fault {
	if value == sample {
		return nil
	}
	has := classesIn(value)
	for _, r := range rules {
		if f := r(value, sample, has); f != nil {
			return f
		}
	}
	return nil
}

// compareArrays lets the number of elements differ. Elements past the sample's
// last are held against that one.
func compareArrays(value []any, sample any, rules []rule) *fault {
	samples, ok := sample.([]any)
	if !ok {
		return typeFault(sample)
	}
	for i, v := range value {
		var s any
		if len(samples) > 0 {
			s = samples[min(i, len(samples)-1)]
		}
		if f := compare(v, s, rules); f != nil {
			return f
		}
	}
	return nil
}

func compareObjects(value map[string]any, sample any, rules []rule) *fault {
	samples, ok := sample.(map[string]any)
	if !ok {
		return typeFault(sample)
	}
	for key, v := range value {
		s, ok := samples[key]
		if !ok {
			return &fault{CodeType, "has a key that it had not in the recording"}
		}
		if f := compare(v, s, rules); f != nil {
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
	return &fault{CodeType, "must be " + name + ", as it was in the recording"}
}
