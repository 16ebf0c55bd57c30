// Package bundle writes what a model or a user reads of a plan that stopped. It
// says what ran, what may be assumed about the step that stopped it, and what is
// left; it never claims more than the plan knows.
package bundle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Opening is how every note begins, so that a reader knows who speaks.
const Opening = "[bir calculated replay]"

// MaxNoteRunes bounds a note. What does not fit is the parameters first, then the
// list of remaining steps.
const MaxNoteRunes = 4000

const (
	maxErrorRunes = 400
	maxValueRunes = 200
)

// Ending is how the step that stopped a plan ended.
type Ending string

// The endings. They differ in what may be assumed about the step's work.
const (
	NotSent    Ending = "not_sent"   // nothing of it happened
	NoAnswer   Ending = "no_answer"  // sent; may or may not have happened
	ToolError  Ending = "tool_error" // answered with an error
	Unreadable Ending = "unreadable" // happened; its output could not be read
	OutOfTime  Ending = "out_of_time"
	Cancelled  Ending = "cancelled"
	AllRan     Ending = "all_ran" // every step ran; only the answer could not be composed
)

// Step is one step as a note names it.
type Step struct {
	Index int
	Tool  string
}

// Facts are what a note is written from.
type Facts struct {
	Total     int
	Ran       []Step // in order; their tools really ran
	Recorded  bool   // the results of Ran are recorded ones: nothing ran at all
	Stopped   Step   // zero when the plan stopped before its first step
	Ending    Ending
	Error     string
	Remaining []Step
	Params    map[string]json.RawMessage
}

// HandOver writes the note.
func HandOver(f Facts) string {
	head := Opening + " This request was being done by its scenario, which could not go all the way. " +
		"Take over here; use the tools as you would without it.\n\n" +
		f.ran() + "\n" + f.stopped()
	for _, more := range []string{f.remaining(), f.params()} {
		if more != "" && utf8.RuneCountInString(head)+utf8.RuneCountInString(more)+1 <= MaxNoteRunes {
			head += "\n" + more
		}
	}
	return cut(head, MaxNoteRunes)
}

func (f Facts) ran() string {
	switch {
	case f.Recorded && len(f.Ran) > 0:
		return fmt.Sprintf("No tool was called; recorded results stood in for %s.", f.count())
	case len(f.Ran) > 0:
		return fmt.Sprintf("Done already, with real results: %s. They must not be done a second time.", f.count())
	case f.Ending == NoAnswer:
		return "Whether any step took effect is not known."
	case f.Ending == ToolError || f.Ending == Unreadable:
		return "No step got as far as a usable result."
	}
	return "Nothing was done for this request yet."
}

func (f Facts) count() string {
	last := f.Ran[len(f.Ran)-1].Index
	if len(f.Ran) == 1 {
		return fmt.Sprintf("step %d of %d", last, f.Total)
	}
	return fmt.Sprintf("steps %d to %d of %d", f.Ran[0].Index, last, f.Total)
}

func (f Facts) stopped() string {
	reason := cut(f.Error, maxErrorRunes)
	if f.Ending == AllRan {
		return fmt.Sprintf("Every step is done; only the summary could not be computed (%s). Answer from the results.", reason)
	}
	if f.Stopped.Index == 0 {
		return fmt.Sprintf("It was refused before its first step: %s.", reason)
	}
	step := fmt.Sprintf("Step %d of %d (%s)", f.Stopped.Index, f.Total, f.Stopped.Tool)
	switch f.Ending {
	case NoAnswer:
		return fmt.Sprintf("%s was sent and no answer came (%s). Its effect is unknown; look whether it happened before you send it again.", step, reason)
	case ToolError:
		return fmt.Sprintf("%s was sent and its tool reported an error (%s). See what it changed before you try again.", step, reason)
	case Unreadable:
		return fmt.Sprintf("%s was carried out and took effect, but its output did not have the expected shape (%s). It must not be sent again.", step, reason)
	case OutOfTime:
		return fmt.Sprintf("%s was not sent: no time was left for it.", step)
	case Cancelled:
		return fmt.Sprintf("%s was not sent: the replay was cancelled first.", step)
	}
	return fmt.Sprintf("%s was not sent and had no effect: %s.", step, reason)
}

func (f Facts) remaining() string {
	if len(f.Remaining) == 0 {
		return ""
	}
	var tools []string
	for _, step := range f.Remaining {
		tools = append(tools, fmt.Sprintf("%d. %s", step.Index, step.Tool))
	}
	return "Left of the plan: " + strings.Join(tools, ", ") + "."
}

func (f Facts) params() string {
	if len(f.Params) == 0 {
		return ""
	}
	var names []string
	for name := range f.Params {
		names = append(names, name)
	}
	slices.Sort(names)
	var pairs []string
	for _, name := range names {
		pairs = append(pairs, name+" = "+cut(string(f.Params[name]), maxValueRunes))
	}
	return "Values taken from the request: " + strings.Join(pairs, ", ") + "."
}

func cut(text string, maxRunes int) string {
	runes := []rune(text)
	if len(runes) <= maxRunes {
		return text
	}
	return string(runes[:maxRunes-1]) + "…"
}
