// Package pinguard holds the rules of the built-in pin guard: whether a call that
// the model has written may be replaced by the step of a plan. A pin runs the step
// without asking anyone, so it is kept only for a call that plausibly is the step.
// A call that is refused runs as the model wrote it.
//
// Why not demand the same arguments? A model that is told that the arguments are
// supplied writes placeholders, or leaves them out. What must be the same is what
// the call does and where: programs and how they are joined, statements' verbs,
// files, hosts. What destroys or installs something must be the same to the word.
package pinguard

import (
	"github.com/bir-run/bir/sandbox/guards/pinguard/command"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Codes of the denials, besides those of package command.
const (
	CodeUnreadable = "unreadable_arguments" // not a JSON object
	CodeFile       = "pin_file"             // another file
	CodeStatement  = "pin_statement"        // a statement that does something else
	CodeNothing    = "pin_nothing_shared"   // no argument in common
	CodePlace      = command.CodePlace      // another path, URL, host or database
	CodeTarget     = "pin_target"           // a tool that destroys something, on something else
	CodeSetting    = "pin_setting"          // a setting of how a command is run
)

// Check answers a pin question.
func Check(req guardsdk.Request) guardsdk.Verdict {
	c := call{tool: toolOf(req.Server, req.Tool)}
	var ok bool
	if c.step, ok = readArguments(req.Args); !ok {
		return guardsdk.Denied(CodeUnreadable, "the arguments of the step are no JSON object")
	}
	if c.model, ok = readArguments(req.ModelArgs); !ok {
		return guardsdk.Denied(CodeUnreadable, "the arguments of the call are no JSON object")
	}
	if same(c.model, c.step) {
		return guardsdk.Allowed()
	}
	if f := c.judge(); f != nil {
		return guardsdk.Denied(f.code, f.words)
	}
	return guardsdk.Allowed()
}

// fault is why a call is not the step. Its words may name arguments and programs,
// and never hold a value.
type fault struct{ code, words string }

// call is the question: the model's arguments and the step's, for one tool.
type call struct {
	tool        tool
	model, step map[string]any
}

func (c call) judge() *fault {
	switch c.tool.class {
	case shellTool:
		return c.shell()
	case readingTool:
		return nil // reads what the step reads, wherever the model looked
	case writingTool:
		return c.writer()
	}
	if len(c.model) == 0 {
		return nil // the model left everything to the plan
	}
	if c.tool.class == runningTool {
		return c.runner()
	}
	return c.other()
}

// shell compares the command, and every setting of how it is run.
func (c call) shell() *fault {
	for _, key := range keysOf(c.model, c.step) {
		if key == "command" || key == "description" || key == "timeout" {
			continue
		}
		if !same(c.model[key], c.step[key]) {
			return &fault{CodeSetting, "the call and the step differ in " + quoted(key) +
				", which says how the command is run; accepted is the step's"}
		}
	}
	model, _ := c.model["command"].(string)
	step, _ := c.step["command"].(string)
	return commandFault(command.Compare(model, step, c.tool.language))
}

func commandFault(d *command.Difference) *fault {
	if d == nil {
		return nil
	}
	return &fault{d.Code, d.Words + "; accepted is the step's command, its programs joined in the same way"}
}

// writer demands every path of the step, and no other one.
func (c call) writer() *fault {
	places := 0
	for _, key := range keysOf(c.model, c.step) {
		if !eitherIsPlace(key, c.model[key], c.step[key]) {
			continue
		}
		places++
		if !samePlace(c.model[key], c.step[key]) {
			return &fault{CodeFile, "the call writes another file than the step, by its " + quoted(key) + "; accepted is the step's file"}
		}
	}
	if places == 0 {
		return &fault{CodeFile, "neither the call nor the step says which file it writes, so only an exact copy of the step is accepted"}
	}
	return nil
}

// other demands one argument in common and no place that is not the step's. A tool
// that destroys something gets no other argument than the step's at all.
func (c call) other() *fault {
	if f := c.places(func(string) bool { return true }); f != nil {
		return f
	}
	if c.tool.destroys {
		for key, v := range ordered(c.model) {
			if !same(v, c.step[key]) {
				return &fault{CodeTarget, "the call has another " + quoted(key) + " than the step, and " + quoted(c.tool.name) +
					" destroys what it is given; accepted is the step's"}
			}
		}
		return nil
	}
	if !c.sharesArgument() {
		return &fault{CodeNothing, "the call has no argument in common with the step; accepted is a call with one of them, or with none at all"}
	}
	return nil
}

// places refuses a call that says where it acts, and says it otherwise than the
// step.
func (c call) places(counts func(key string) bool) *fault {
	for key, v := range ordered(c.model) {
		step := c.step[key]
		if !counts(key) || !eitherIsPlace(key, v, step) {
			continue
		}
		if !samePlace(v, step) {
			return &fault{CodePlace, "the call acts on another place than the step, by its " + quoted(key) +
				"; accepted is the step's, or none"}
		}
	}
	return nil
}

// sharesArgument looks for an argument that says something. A switch that is the
// same by chance counts only where the step has nothing else.
func (c call) sharesArgument() bool {
	weak := true
	for _, v := range c.step {
		weak = weak && !says(v)
	}
	for key, v := range c.model {
		step, ok := c.step[key]
		if ok && (weak || says(v)) && (same(v, step) || isPlace(key, step) && samePlace(v, step)) {
			return true
		}
	}
	return false
}
