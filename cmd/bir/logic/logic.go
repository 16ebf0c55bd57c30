// Package logic has the commands for bodies: bir logic test, run, lint and types.
package logic

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// New declares `bir logic`.
func New(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logic",
		Short: "Test, try and check bodies in the sandbox",
		Long:  "A body is the inside of a JavaScript function. It runs in a process without files, network or time.\n\n" + cli.ExitCodes,
	}
	cmd.AddCommand(newTest(a), newRun(a), newLint(a), newTypes(a))
	return cmd
}

// options are the flags of `bir logic test`.
type options struct {
	kind, body, args, expect string
	cases                    string
	step                     int
	timeout                  time.Duration
	memory                   string
	now, zone                string
	asJSON                   bool
}

func newTest(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "test [SCENARIO --step N]",
		Short: "Run one body, a step's stored bodies against the recording, or many cases",
		Long: `Runs bodies in the sandbox and shows value, difference, console, time and memory.

A case file is a list: [{"id","kind","body","args":{"params","respParams","toolOutput"},
"expect":{"value":…} or {"error":"timeout|memory|syntax|throw|result"}}]. Kind raw takes the
keys of args as parameters, in order. With --json each case is one line:
{"id","ok","value","error":{"type","message","line","column"},"console":[],"durationMs","memoryBytes"}

` + cli.ExitCodes,
		Example: "  bir logic test --kind toolInput --body new.js --args args.json\n" +
			"  echo 'return { n: params.a + 1 }' | bir logic test --kind params --body -\n" +
			"  bir logic test scn_0192… --step 2\n" +
			"  bir logic test --cases cases/ --json",
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
	f.StringVar(&o.now, "now", "", "what the clock shows, RFC 3339 (default 2000-01-01T00:00:00Z)")
	f.StringVar(&o.zone, "tz", "", "time zone, such as Europe/Berlin (default UTC)")
	f.BoolVar(&o.asJSON, "json", false, "print one JSON object a case, a line each")
	return cmd
}

func test(ctx context.Context, a *app.App, o options, args []string) error {
	world, err := o.world()
	if err != nil {
		return err
	}
	limits, err := o.limits()
	if err != nil {
		return err
	}
	pool, err := a.PoolWith(limits)
	if err != nil {
		return err
	}
	defer pool.Close()
	switch {
	case len(args) == 1:
		if o.cases != "" || o.body != "" {
			return cli.Usage("a scenario goes with neither --cases nor --body")
		}
		return testStep(ctx, a, o, args[0], pool)
	case o.cases != "":
		if o.body != "" {
			return cli.Usage("--cases and --body exclude each other")
		}
		return testCases(ctx, a, o, world, pool)
	}
	one, err := o.one(a.In)
	if err != nil {
		return err
	}
	one.Args.World = world
	return report(ctx, a, o.asJSON, []cases.Case{one}, pool)
}

func testCases(ctx context.Context, a *app.App, o options, world sandbox.World, pool *sandbox.Pool) error {
	all, err := cases.Load(o.cases)
	if err != nil {
		return cli.Usage("%w", err)
	}
	for i := range all {
		all[i].Args.World = world
	}
	return report(ctx, a, o.asJSON, all, pool)
}

// one reads the case that the flags describe.
func (o options) one(in io.Reader) (cases.Case, error) {
	c := cases.Case{ID: o.body, Body: sandbox.Body{Kind: sandbox.Kind(o.kind)}}
	if o.body == "" {
		return c, cli.Usage("nothing to test: give --body, --cases or a scenario")
	}
	if !known(c.Body.Kind) {
		return c, cli.Usage("--kind is %q, want one of %v", o.kind, cases.Kinds())
	}
	if o.body == "-" && o.args == "-" {
		return c, cli.Usage("only one of --body and --args can be standard input")
	}
	source, err := read(in, "body", o.body)
	if err != nil {
		return c, err
	}
	if !utf8.Valid(source) {
		return c, cli.Usage("the body in %s is not UTF-8", o.body)
	}
	c.Body.Source = string(source)
	if c.Args, err = o.arguments(in, c.Body.Kind); err != nil {
		return c, err
	}
	c.Expect, err = o.expected()
	return c, err
}

func known(kind sandbox.Kind) bool {
	for _, k := range cases.Kinds() {
		if k == kind {
			return true
		}
	}
	return false
}

func (o options) arguments(in io.Reader, kind sandbox.Kind) (sandbox.Args, error) {
	if o.args == "" {
		return sandbox.Args{}, nil
	}
	text, err := read(in, "arguments", o.args)
	if err != nil {
		return sandbox.Args{}, err
	}
	args, err := cases.ParseArgs(kind, text)
	if err != nil {
		return args, cli.Usage("the arguments in %s: %w", o.args, err)
	}
	return args, nil
}

func (o options) expected() (*cases.Expect, error) {
	if o.expect == "" {
		return nil, nil
	}
	text, err := os.ReadFile(o.expect)
	if err != nil {
		return nil, cli.Usage("read the expected value: %w", err)
	}
	var e cases.Expect
	if err := cases.Decode(text, &e.Value); err != nil {
		return nil, cli.Usage("the expected value in %s: %w", o.expect, err)
	}
	return &e, nil
}

func read(in io.Reader, what, path string) ([]byte, error) {
	var text []byte
	var err error
	if path == "-" {
		text, err = io.ReadAll(in)
	} else {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, cli.Usage("read the %s: %w", what, err)
	}
	return text, nil
}

func (o options) world() (sandbox.World, error) {
	w := sandbox.World{Zone: o.zone}
	if o.zone != "" {
		if _, err := time.LoadLocation(o.zone); err != nil {
			return w, cli.Usage("--tz %q is no time zone, want one such as Europe/Berlin", o.zone)
		}
	}
	if o.now == "" {
		return w, nil
	}
	now, err := time.Parse(time.RFC3339Nano, o.now)
	if err != nil {
		return w, cli.Usage("--now %q is no RFC 3339 time, want one such as 2026-01-31T12:00:00Z", o.now)
	}
	w.Now = now
	return w, nil
}

func (o options) limits() (app.Limits, error) {
	var l app.Limits
	if o.timeout < 0 || o.timeout > 10*time.Second {
		return l, cli.Usage("--timeout %s is out of range, want up to 10s", o.timeout)
	}
	l.Timeout = o.timeout
	if o.memory == "" {
		return l, nil
	}
	bytes, err := parseBytes(o.memory)
	if err != nil {
		return l, cli.Usage("--memory %q is no size from 16MB to 1024MB, want one such as 64MB", o.memory)
	}
	l.MemoryBytes = bytes
	return l, nil
}

// parseBytes reads 64MB, 64MiB or a plain number of bytes; MB and MiB are both 2^20,
// as in BIR_LOGIC_MEMORY_MB.
func parseBytes(s string) (int64, error) {
	const mib = 1 << 20
	unit := int64(1)
	number := strings.ToLower(s)
	for _, suffix := range []string{"mib", "mb", "m"} {
		if cut, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = cut, mib
			break
		}
	}
	var n int64
	if _, err := fmt.Sscanf(number+"\n", "%d\n", &n); err != nil || n <= 0 || n > 1024*mib/unit || n*unit < 16*mib {
		return 0, fmt.Errorf("out of range")
	}
	return n * unit, nil
}
