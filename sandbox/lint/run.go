package lint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/dop251/goja/ast"

	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/lint/scope"
)

// Evaluator runs one body; sandbox.Pool is one.
type Evaluator interface {
	Eval(ctx context.Context, body sandbox.Body, args sandbox.Args) (sandbox.Result, error)
}

// Run lints a body. An error means that the sandbox could not be asked.
func Run(ctx context.Context, ev Evaluator, s Subject) ([]Finding, error) {
	fault, err := syntaxFault(ctx, ev, s)
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	if fault != nil {
		return []Finding{{
			Rule: string(fault.Type), Level: Error, Message: fault.Message, Line: max(1, fault.Line), Column: max(1, fault.Column),
		}}, nil
	}
	c, err := read(s)
	if err != nil {
		return []Finding{{
			Rule: "unread", Level: Info, Line: 1, Column: 1,
			Message:    "nothing was checked: lint does not know the syntax of this body (" + err.Error() + ")",
			Suggestion: "the body runs all the same; plain loops and functions can be checked",
		}}, nil
	}
	globals, err := askGlobals(ctx, ev, c.outside())
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox for its globals: %w", err)
	}
	return c.check(globals), nil
}

// syntaxFault compiles a body in the sandbox and lets nothing of it run.
func syntaxFault(ctx context.Context, ev Evaluator, s Subject) (*sandbox.Error, error) {
	const leave = "return;\n"
	var args sandbox.Args
	for _, name := range s.Params {
		args.Raw = append(args.Raw, sandbox.Arg{Name: name, Value: json.RawMessage("null")})
	}
	_, err := ev.Eval(ctx, sandbox.Body{Kind: s.Body.Kind, Source: leave + s.Body.Source}, args)
	var fault *sandbox.Error
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &fault) || fault.Type == sandbox.TypeSandbox:
		return nil, err
	case fault.Type == sandbox.TypeResult:
		return nil, nil // it left with nothing, as told to
	}
	moved := *fault
	moved.Line--
	return &moved, nil
}

// outside are the names that a body leaves to its surroundings.
func (c *checker) outside() []string {
	var all []string
	for _, id := range c.names.Globals {
		all = append(all, id.Name.String())
	}
	scope.Inspect(c.function, func(n ast.Node, _ []ast.Node) bool {
		if object, name, ok := scope.Member(n); ok {
			if on, _ := c.free(object); on == "globalThis" {
				all = append(all, name)
			}
		}
		return true
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// askGlobals gives the names that bodies can use. It writes out those in question,
// since the sandbox makes some globals only for a body that names them. One that
// throws when it is looked at is there to say that it is not there.
func askGlobals(ctx context.Context, ev Evaluator, names []string) ([]string, error) {
	list, err := json.Marshal(names)
	if err != nil {
		return nil, err
	}
	source := "const names = Object.getOwnPropertyNames(globalThis).concat(" + string(list) + " ?? []);\n" +
		"return names.filter((name) => {\n" +
		"  try { return name === \"undefined\" || typeof globalThis[name] !== \"undefined\"; } catch { return false; }\n" +
		"});"
	result, err := ev.Eval(ctx, sandbox.Body{Kind: sandbox.KindRaw, Source: source}, sandbox.Args{})
	if err != nil {
		return nil, err
	}
	var globals []string
	err = json.Unmarshal(result.Value, &globals)
	return globals, err
}
