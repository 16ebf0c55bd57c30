package logic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/cmd/bir/scenario"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/lint"
)

func newLint(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "lint [SCENARIO [--step N]]",
		Short: "Say what would fail or surprise on a replay",
		Long: `Reads bodies without running them: names that nothing declares, what bodies cannot reach
(also behind typeof, and in branches that the recording never took), keys that the recording
does not have, code that is never reached, missing returns, results that depend on no input,
strings that grow in loops, and what gives the same on every replay. Without --step it reads
all bodies of the scenario.

Errors fail when they are reached, and make the exit code 1; warnings are probably not what
was meant; infos are worth knowing. With --json:
{"bodies","errors","warnings","infos","findings":[{"body","rule","level","message","suggestion","line","column"}]}

` + cli.ExitCodes,
		Example: "  bir logic lint scn_0192…\n" +
			"  bir logic lint scn_0192… --step 2 --json\n" +
			"  bir logic lint --kind toolOutput --body new.js",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runLint(cmd.Context(), a, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.kind, "kind", "", "with --body: params, toolInput, toolOutput, responseParams or raw")
	f.StringVar(&o.body, "body", "", "file with the body, - for standard input")
	f.StringVar(&o.args, "args", "", "with --kind raw: file with the arguments as JSON, whose keys name the parameters")
	f.IntVar(&o.step, "step", 0, "with a scenario: only this step, from 1")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	completions(cmd)
	return cmd
}

// linted is a body with a name for people.
type linted struct {
	name string
	lint.Subject
}

// bodyFinding is a finding with the name of its body.
type bodyFinding struct {
	Body string `json:"body"`
	lint.Finding
}

// lintReport is what `bir logic lint --json` prints.
type lintReport struct {
	Bodies   int           `json:"bodies"`
	Errors   int           `json:"errors"`
	Warnings int           `json:"warnings"`
	Infos    int           `json:"infos"`
	Findings []bodyFinding `json:"findings"`
}

func runLint(ctx context.Context, a *app.App, o options, args []string) error {
	pool, err := a.Pool()
	if err != nil {
		return err
	}
	defer pool.Close()
	subjects, err := o.subjects(ctx, a, pool, args)
	if err != nil {
		return err
	}
	report := lintReport{Bodies: len(subjects), Findings: []bodyFinding{}}
	for _, s := range subjects {
		found, err := lint.Run(ctx, pool, s.Subject)
		if err != nil {
			return err
		}
		report.add(s.name, found)
		if !o.asJSON {
			printFindings(a.Out, s, found)
		}
	}
	if o.asJSON {
		err = cli.JSON(a.Out, report)
	} else {
		fmt.Fprintln(a.Out, report.summary())
	}
	if err == nil && report.Errors > 0 {
		return cli.ErrSilent
	}
	return err
}

// subjects are the bodies that the command line names.
func (o options) subjects(ctx context.Context, a *app.App, ev engine.Evaluator, args []string) ([]linted, error) {
	if len(args) == 1 && o.body != "" {
		return nil, cli.Usage("a scenario and --body exclude each other")
	}
	if len(args) == 1 {
		return o.stored(ctx, a, ev, args[0])
	}
	one, err := o.one(a.In)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, arg := range one.Args.Raw {
		names = append(names, arg.Name)
	}
	return []linted{{name: o.body, Subject: lint.Subject{Body: one.Body, Params: names}}}, nil
}

// stored are the bodies of a scenario, or of one of its steps, with what their
// parameters held in the recording.
func (o options) stored(ctx context.Context, a *app.App, ev engine.Evaluator, id string) ([]linted, error) {
	scn, err := scenario.Fetch(ctx, a, id)
	if err != nil {
		return nil, err
	}
	found, err := recordingOf(ctx, a, scn)
	if err != nil {
		found.scn = scn // without its run, lint only knows less
	}
	if o.step != 0 {
		if err := wantStep(scn, o.step); err != nil {
			return nil, err
		}
		return found.stepSubjects(ctx, ev, o.step), nil
	}
	given := map[string][]string{"params": slices.Sorted(maps.Keys(scn.ParamsObject))}
	all := named("params", sandbox.KindParams, scn.ParamsLogic, given)
	for i := range scn.Steps {
		all = append(all, found.stepSubjects(ctx, ev, i+1)...)
	}
	return append(all, named("response", sandbox.KindResponseParams, scn.ResponseParamsLogic, nil)...), nil
}

// stepSubjects are the bodies of a step, which counts from 1.
func (r recorded) stepSubjects(ctx context.Context, ev engine.Evaluator, number int) []linted {
	keys := map[string][]string{}
	// Where the arguments cannot be evaluated, lint only knows less; `bir logic test`
	// says why they cannot.
	if args, err := r.args(ctx, ev, number); err == nil {
		keys["params"] = keysOf(args.Params)
		if len(args.Missing) == 0 {
			keys["respParams"] = keysOf(args.RespParams)
		}
	}
	step := r.scn.Steps[number-1]
	return append(
		named(fmt.Sprintf("step %d input", step.StepIndex), sandbox.KindToolInput, step.ToolInputLogic, keys),
		named(fmt.Sprintf("step %d output", step.StepIndex), sandbox.KindToolOutput, step.ToolOutputLogic, keys)...)
}

func keysOf(object json.RawMessage) []string {
	var keys []string
	gjson.ParseBytes(object).ForEach(func(key, _ gjson.Result) bool {
		keys = append(keys, key.String())
		return true
	})
	return keys
}

// named is a body to lint, or none where there is none.
func named(name string, kind sandbox.Kind, source string, keys map[string][]string) []linted {
	if strings.TrimSpace(source) == "" {
		return nil
	}
	return []linted{{name: name, Subject: lint.Subject{Body: sandbox.Body{Kind: kind, Source: source}, Keys: keys}}}
}

func (r *lintReport) add(body string, found []lint.Finding) {
	for _, f := range found {
		switch f.Level {
		case lint.Error:
			r.Errors++
		case lint.Warning:
			r.Warnings++
		default:
			r.Infos++
		}
		r.Findings = append(r.Findings, bodyFinding{Body: body, Finding: f})
	}
}

func (r *lintReport) summary() string {
	if len(r.Findings) == 0 {
		return fmt.Sprintf("%s, nothing to say", count(r.Bodies, "body", "bodies"))
	}
	parts := []string{
		count(r.Errors, "error", "errors"), count(r.Warnings, "warning", "warnings"), count(r.Infos, "info", "infos"),
	}
	parts = slices.DeleteFunc(parts, func(p string) bool { return strings.HasPrefix(p, "0 ") })
	return fmt.Sprintf("%s: %s", count(r.Bodies, "body", "bodies"), strings.Join(parts, ", "))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
