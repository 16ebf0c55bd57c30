package pinguard

import (
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/guards/pinguard/command"
	"github.com/bir-run/bir/sandbox/guards/pinguard/statement"
)

var (
	runKeys = words("sql query queries statement statements stmt command commands cmd script code expression expr q mutation " +
		"function pipeline program shell source input stdin body args argv arguments env environment")
	sqlWords = words("sql mysql postgres postgresql sqlite mariadb mssql psql query queries statement statements stmt graphql cypher " +
		"mutation q database db")
	shellWords = words("command commands cmd shell bash sh zsh terminal powershell pwsh")
	codeWords  = words("eval evaluate code script expression expr function source program")
)

// runner compares what the step runs: every statement, supplied with the same
// verb, and every command with the same programs. Where the step runs nothing, the
// call must run nothing either.
func (c call) runner() *fault {
	for _, key := range keysOf(c.model, c.step) {
		if !c.isRun(key) {
			continue
		}
		if f := c.runs(key); f != nil {
			return f
		}
	}
	return c.places(func(key string) bool { return !c.isRun(key) })
}

// isRun tells whether an argument is run. Where no name of the step's arguments
// says so, all its texts may be.
func (c call) isRun(key string) bool {
	for name := range c.step {
		if hasAny(nameWords(name), runKeys) {
			return hasAny(nameWords(key), runKeys)
		}
	}
	return hasAny(nameWords(key), runKeys) || !isPlace(key, c.step[key]) && says(c.step[key])
}

func (c call) runs(key string) *fault {
	model, step := c.model[key], c.step[key]
	if same(model, step) || empty(model) && empty(step) {
		return nil
	}
	if empty(step) {
		return &fault{CodeStatement, "the call runs something in " + quoted(key) + " where the step runs nothing; accepted is nothing there"}
	}
	if empty(model) {
		return &fault{CodeStatement, "the call runs nothing in " + quoted(key) + " where the step does; accepted is the step's statement, or no argument at all"}
	}
	modelTexts, stepTexts := texts(model), texts(step)
	if modelTexts == nil || stepTexts == nil || len(modelTexts) != len(stepTexts) {
		return &fault{CodeStatement, "the call has another form of " + quoted(key) + " than the step; accepted is the step's"}
	}
	for i := range stepTexts {
		if f := c.compareText(key, modelTexts[i], stepTexts[i]); f != nil {
			return f
		}
	}
	return nil
}

func empty(v any) bool {
	s, isText := v.(string)
	return v == nil || isText && strings.TrimSpace(s) == ""
}

// texts are the statements of an argument: one, or a list of them.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil
			}
			all = append(all, s)
		}
	}
	return all
}

// compareText reads a text in the language that the names say. Code of an unknown
// language is the same only as an exact copy.
func (c call) compareText(key, model, step string) *fault {
	name := nameWords(key)
	isSQL := hasAny(name, sqlWords) || hasAny(c.tool.words, sqlWords) || slices.ContainsFunc(c.tool.words, func(w string) bool { return strings.Contains(w, "sql") })
	switch {
	case hasAny(name, codeWords) && !isSQL:
		if strings.TrimSpace(model) != strings.TrimSpace(step) {
			return &fault{command.CodeExact, "the call has other code in " + quoted(key) + " than the step; accepted is an exact copy"}
		}
		return nil
	case !isSQL && (hasAny(name, shellWords) || hasAny(c.tool.words, shellWords)):
		return commandFault(command.Compare(model, step, c.tool.language))
	}
	if why := statement.Compare(model, step); why != "" {
		return &fault{CodeStatement, "the call " + why + "; accepted is a statement with the step's verbs"}
	}
	return nil
}
