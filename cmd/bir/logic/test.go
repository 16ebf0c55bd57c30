package logic

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/bir/logic/report"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

func newTest(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "test [SCENARIO --step N]",
		Short: "Run one body, a step's stored bodies against the recording, or many cases",
		Long: `Runs bodies in the sandbox and shows value, difference, console, time and memory.

A case file is a list: [{"id","kind","body","args":{"params","respParams","toolOutput"},
"expect":{"value":…} or {"error":"timeout|memory|syntax|throw|result"}}]. Kind raw takes the
keys of args as parameters, in order. With --json each case is one line:
{"id","ok","value","error":{"type","message","line","column"},"console":[],"durationMs","memoryBytes","level"}

A body runs at level process, and the forced bodies of a step where a replay runs them; --level wasm
runs all at the second, slower level, which has to be compiled once.

--update shows what is different and makes it the expected value, in the file of the case or
of --expect; a case that failed stays as it is. --watch runs again when a file, or the
scenario, has changed, until Ctrl-C.

` + cli.ExitCodes,
		Example: "  bir logic test --kind toolInput --body new.js --args args.json\n" +
			"  echo 'return { n: params.a + 1 }' | bir logic test --kind params --body -\n" +
			"  bir logic test scn_0192… --step 2 --watch\n" +
			"  bir logic test --cases cases/ --format junit > logic.xml\n" +
			"  bir logic test --cases cases/ --update\n" +
			"  bir logic test --cases cases/ --level wasm",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return test(cmd.Context(), a, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.kind, "kind", "", "params, toolInput, toolOutput, responseParams or raw")
	f.StringVar(&o.body, "body", "", "file with the body, - for standard input")
	f.StringVar(&o.args, "args", "", "file with the arguments as JSON, - for standard input")
	f.StringVar(&o.expect, "expect", "", "file with the expected value as JSON")
	f.StringVar(&o.cases, "cases", "", "file or folder with many cases")
	f.IntVar(&o.step, "step", 0, "with a scenario: the step, from 1")
	f.DurationVar(&o.timeout, "timeout", 0, "time a body may run, at most 10s (default BIR_LOGIC_TIMEOUT_MS)")
	f.StringVar(&o.memory, "memory", "", "memory a body may use, such as 64MB (default BIR_LOGIC_MEMORY_MB)")
	f.StringVar(&o.level, "level", "", "auto, process or wasm (default BIR_SANDBOX)")
	f.StringVar(&o.now, "now", "", "what the clock shows, RFC 3339 (default 2000-01-01T00:00:00Z)")
	f.StringVar(&o.zone, "tz", "", "time zone, such as Europe/Berlin (default UTC)")
	f.StringVar(&o.format, "format", "", "text, json, tap or junit (default text)")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object a case, a line each")
	f.BoolVar(&o.update, "update", false, "make a value that differs the expected one, after showing it")
	f.BoolVar(&o.watch, "watch", false, "run again at every change, until Ctrl-C")
	completions(cmd)
	return cmd
}

func test(ctx context.Context, a *app.App, o options, args []string) error {
	if err := o.check(len(args) == 1); err != nil {
		return err
	}
	if _, err := report.New(o.reportFormat(), a.Out, 0); err != nil {
		return err
	}
	limits, err := o.limits()
	if err != nil {
		return err
	}
	if cmp.Or(limits.Level, sandbox.Level(a.Env.Sandbox)) == sandbox.LevelWasm {
		if err := a.PrepareSandbox(ctx); err != nil {
			return err
		}
	}
	pool, err := a.PoolWith(limits)
	if err != nil {
		return err
	}
	defer pool.Close()
	t := tester{app: a, options: o, pool: pool}
	if len(args) == 1 {
		t.scenario = args[0]
	}
	if o.watch {
		return t.watch(ctx)
	}
	return t.once(ctx)
}

// tester runs what one command line asks for, once or again and again.
type tester struct {
	app      *app.App
	options  options
	scenario string
	pool     *sandbox.Pool
}

func (t tester) once(ctx context.Context) error {
	all, err := t.load(ctx)
	if err != nil {
		return err
	}
	r, err := report.New(t.options.reportFormat(), t.app.Out, len(all))
	if err != nil {
		return err
	}
	failed, accepted := 0, 0
	for outcome, err := range cases.Run(ctx, t.pool, all) {
		if err != nil {
			return err
		}
		if err := r.Case(outcome); err != nil {
			return err
		}
		taken, err := t.accept(outcome)
		switch {
		case err != nil:
			return err
		case taken:
			accepted++
		case !outcome.OK:
			failed++
		}
	}
	if err := r.End(); err != nil {
		return err
	}
	t.conclude(failed > 0, accepted)
	if failed > 0 {
		return cli.ErrSilent
	}
	return nil
}

// conclude says what the cases say together, where it is more than their number.
func (t tester) conclude(failed bool, accepted int) {
	switch {
	case accepted > 0:
		fmt.Fprintf(t.app.Out, "%d accepted\n", accepted)
	case t.scenario == "" || t.options.reportFormat() != report.Text:
	case failed:
		fmt.Fprintf(t.app.Out, "step %d does not reproduce the recording\n", t.options.step)
	default:
		fmt.Fprintf(t.app.Out, "step %d reproduces the recording\n", t.options.step)
	}
}

// load gives the cases that the command line names.
func (t tester) load(ctx context.Context) ([]cases.Case, error) {
	if t.scenario != "" {
		return t.stepCases(ctx)
	}
	world, err := t.options.world()
	if err != nil {
		return nil, err
	}
	var all []cases.Case
	if t.options.cases != "" {
		if all, err = cases.Load(t.options.cases); err != nil {
			return nil, cli.Usage("%w", err)
		}
	} else {
		one, err := t.options.one(t.app.In)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	for i := range all {
		all[i].Args.World = world
	}
	return all, nil
}

// accept makes a value the expected one, if that was asked for.
func (t tester) accept(o cases.Outcome) (bool, error) {
	if !t.options.update || !o.Acceptable() {
		return false, nil
	}
	if err := cases.Accept(o); err != nil {
		return false, fmt.Errorf("accept the value of %s: %w", o.ID, err)
	}
	fmt.Fprintf(t.app.Out, "   accepted into %s\n", o.Case.Place.File)
	return true, nil
}
