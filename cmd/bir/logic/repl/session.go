// Package repl evaluates JavaScript expressions over given values, one after the
// other, for a person or a pipe. Every evaluation starts afresh in the sandbox;
// definitions seem to stay because they are evaluated again each time.
package repl

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/sandbox"
)

// Session is a sequence of evaluations over the same values.
type Session struct {
	evaluator engine.Evaluator
	values    []sandbox.Arg
	world     sandbox.World
	kept      []definition
}

// definition is an input that is evaluated again before every later one.
type definition struct {
	name string // empty for a change of a name that another one defines
	text string
}

// NewSession makes a session in which the values have their names.
func NewSession(evaluator engine.Evaluator, values []sandbox.Arg, world sandbox.World) *Session {
	return &Session{evaluator: evaluator, values: values, world: world}
}

// Answer is what one input gave. As JSON it is a line of `bir logic run --json`.
type Answer struct {
	Input   string          `json:"input"`
	Defined string          `json:"defined,omitempty"` // the name that the input defines
	Value   json.RawMessage `json:"value,omitempty"`
	Text    string          `json:"text,omitempty"` // what is no JSON value, as Node shows it
	Console []string        `json:"console"`
	Error   *sandbox.Error  `json:"error,omitempty"`
}

var (
	defines = regexp.MustCompile(`^(?:(?:let|const|var|class|(?:async\s+)?function\s*\*?)\s+\*?\s*)([\p{L}_$][\p{L}\p{N}_$]*)`)
	unpacks = regexp.MustCompile(`^(?:let|const|var)\s*[{\[]`)
	assigns = regexp.MustCompile(`^([\p{L}_$][\p{L}\p{N}_$]*)\s*(?:\*\*|&&|\|\||\?\?|<<|>>>?|[-+*/%&|^])?=(?:[^=>]|$)`)
)

// Eval evaluates one input: a definition, an expression, or statements as in a
// body. An error means that the sandbox could not be used; what is wrong with the
// input is in the answer.
func (s *Session) Eval(ctx context.Context, input string) (Answer, error) {
	input = strings.TrimSpace(input)
	name := nameOf(input)
	switch {
	case name != "" || unpacks.MatchString(input):
		return s.define(ctx, name, input)
	case s.changes(input):
		answer, err := s.expression(ctx, s.kept, input)
		if err == nil && answer.Error == nil {
			s.kept = append(s.kept, definition{text: input})
		}
		return answer, err
	}
	answer, err := s.expression(ctx, s.kept, input)
	if err != nil || answer.Error == nil || answer.Error.Type != sandbox.TypeSyntax {
		return answer, err
	}
	statements, err := s.eval(ctx, s.kept, "", input, "")
	if err == nil && statements.Error != nil && statements.Error.Type == sandbox.TypeSyntax {
		return answer, nil
	}
	return statements, err
}

// nameOf is the name that an input defines, if it defines one.
func nameOf(input string) string {
	if m := defines.FindStringSubmatch(input); m != nil {
		return m[1]
	}
	return ""
}

// changes tells an assignment to a name that was defined here.
func (s *Session) changes(input string) bool {
	m := assigns.FindStringSubmatch(input)
	return m != nil && slices.ContainsFunc(s.kept, func(d definition) bool { return d.name == m[1] })
}

// define keeps a definition that works, in place of an earlier one of its name.
func (s *Session) define(ctx context.Context, name, input string) (Answer, error) {
	kept := s.without(name)
	shown := name
	if shown == "" {
		shown = "undefined"
	}
	answer, err := s.eval(ctx, kept, "", input, "\nreturn __show("+shown+");")
	if err != nil || answer.Error != nil {
		return answer, err
	}
	answer.Defined = name
	s.kept = append(kept, definition{name: name, text: input})
	return answer, nil
}

func (s *Session) without(name string) []definition {
	if name == "" {
		return slices.Clone(s.kept)
	}
	return slices.DeleteFunc(slices.Clone(s.kept), func(d definition) bool {
		m := assigns.FindStringSubmatch(d.text)
		return d.name == name || d.name == "" && m != nil && m[1] == name
	})
}

// Forget drops every definition.
func (s *Session) Forget() { s.kept = nil }

// Defined are the definitions in force, as they were typed.
func (s *Session) Defined() []string {
	texts := make([]string, len(s.kept))
	for i, d := range s.kept {
		texts[i] = d.text
	}
	return texts
}

func (s *Session) expression(ctx context.Context, kept []definition, input string) (Answer, error) {
	return s.eval(ctx, kept, "return __show((\n", strings.TrimRight(input, "; \n"), "\n));")
}

// show gives what JSON can hold as it is. It prints what JSON would lose a part of,
// so that the console's last line is how Node would show it.
const show = `const __show = (v) => {
  if (v instanceof Promise) return v.then(__show);
  let whole = true;
  const look = (_, x) => {
    const object = typeof x === "object" && x !== null;
    const known = object
      ? Array.isArray(x) || [Object.prototype, null].includes(Object.getPrototypeOf(x))
      : x === null || typeof x === "string" || typeof x === "boolean" || Number.isFinite(x);
    whole &&= known;
    return known ? x : 0;
  };
  try { JSON.stringify(v, look); } catch { whole = false; }
  if (!whole) console.log(v);
  return whole ? { value: v } : { text: true };
};`

// eval runs before, input and after behind the definitions.
func (s *Session) eval(ctx context.Context, kept []definition, before, input, after string) (Answer, error) {
	var head strings.Builder
	head.WriteString(show + "\n")
	begin, end := s.frame(append(slices.Clone(kept), definition{nameOf(input), input}))
	head.WriteString(begin)
	for _, d := range kept {
		head.WriteString(d.text + "\n;\n")
	}
	head.WriteString(before)
	result, err := s.evaluator.Eval(ctx, sandbox.Body{Kind: sandbox.KindRaw, Source: head.String() + input + after + end},
		sandbox.Args{Raw: s.values, World: s.world})
	answer := Answer{Input: input, Console: []string{}}
	if err != nil {
		if !errors.As(err, &answer.Error) || answer.Error.Type == sandbox.TypeSandbox {
			return answer, err
		}
		answer.Console = append(answer.Console, answer.Error.Console...)
		answer.place(strings.Count(head.String(), "\n"), strings.Count(input, "\n")+1)
		return answer, nil
	}
	answer.Console = append(answer.Console, result.Console...)
	answer.take(result.Value)
	return answer, nil
}

// frame is what stands around the inputs: an async function where they wait for
// something, a block where a definition has the name of a value, else nothing.
func (s *Session) frame(inputs []definition) (begin, end string) {
	for _, d := range inputs {
		if strings.Contains(d.text, "await") {
			return "return (async () => {\n", "\n})();"
		}
		if slices.ContainsFunc(s.values, func(v sandbox.Arg) bool { return v.Name == d.name }) {
			begin, end = "{\n", "\n}"
		}
	}
	return begin, end
}

// place moves an error from the evaluated text into the input.
func (a *Answer) place(linesBefore, lines int) {
	if a.Error == nil {
		return
	}
	moved := *a.Error
	moved.Line -= linesBefore
	if moved.Line < 1 || moved.Line > lines {
		moved.Line, moved.Column = 0, 0
	}
	a.Error = &moved
}

// take reads what show returned, or what statements returned on their own.
func (a *Answer) take(result json.RawMessage) {
	var shown map[string]json.RawMessage
	if json.Unmarshal(result, &shown) == nil && len(shown) == 1 {
		if value, ok := shown["value"]; ok {
			a.Value = value
			return
		}
		if string(shown["text"]) == "true" {
			a.takeText()
			return
		}
	}
	a.Value = result
}

// takeText takes the line that show printed.
func (a *Answer) takeText() {
	if n := len(a.Console); n > 0 {
		a.Text = a.Console[n-1]
		a.Console = a.Console[:n-1]
	}
}
