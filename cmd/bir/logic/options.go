package logic

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/bir/logic/report"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/cases"
)

// options are the flags of `bir logic test`, and some of them of `bir logic lint`.
type options struct {
	kind, body, args, expect string
	cases                    string
	step                     int
	timeout                  time.Duration
	memory                   string
	now, zone                string
	format, level            string
	asJSON                   bool
	update, watch            bool
}

// completions offers the values of the flags that have a list of them. An error of
// cobra's would mean a flag that does not exist, which only costs the completion.
func completions(cmd *cobra.Command) {
	var kinds []cobra.Completion
	for _, kind := range cases.Kinds() {
		kinds = append(kinds, string(kind))
	}
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds, cobra.ShellCompDirectiveNoFileComp))
	formats := []cobra.Completion{string(report.Text), string(report.JSON), string(report.TAP), string(report.JUnit)}
	levels := []cobra.Completion{string(sandbox.LevelAuto), string(sandbox.LevelProcess), string(sandbox.LevelWasm)}
	_ = cmd.RegisterFlagCompletionFunc("level", cobra.FixedCompletions(levels, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// check refuses flags that do not go together.
func (o options) check(scenario bool) error {
	switch {
	case scenario && (o.cases != "" || o.body != ""):
		return cli.Usage("a scenario goes with neither --cases nor --body")
	case o.cases != "" && o.body != "":
		return cli.Usage("--cases and --body exclude each other")
	case o.update && scenario:
		return cli.Usage("--update does not go with a scenario: what was recorded stays")
	case o.update && o.cases == "" && o.expect == "":
		return cli.Usage("--update needs --cases or --expect, whose expected values it changes")
	case o.update && o.reportFormat() != report.Text:
		return cli.Usage("--update shows what it accepts, so it goes with --format text only")
	case o.watch && slices.Contains([]report.Format{report.TAP, report.JUnit}, o.reportFormat()):
		return cli.Usage("--watch never ends, so it goes with --format text or json only")
	case o.watch && (o.body == "-" || o.args == "-"):
		return cli.Usage("--watch needs files, standard input does not change")
	case o.asJSON && o.format != "" && o.format != string(report.JSON):
		return cli.Usage("--json and --format %s exclude each other", o.format)
	}
	return nil
}

func (o options) reportFormat() report.Format {
	switch {
	case o.asJSON:
		return report.JSON
	case o.format == "":
		return report.Text
	}
	return report.Format(o.format)
}

// one reads the case that the flags describe.
func (o options) one(in io.Reader) (cases.Case, error) {
	c := cases.Case{ID: o.body, Body: sandbox.Body{Kind: sandbox.Kind(o.kind)}}
	if o.body == "" {
		return c, cli.Usage("nothing to test: give --body, --cases or a scenario")
	}
	if !slices.Contains(cases.Kinds(), c.Body.Kind) {
		return c, cli.Usage("--kind is %q, want one of %v", o.kind, cases.Kinds())
	}
	if o.body == "-" && o.args == "-" {
		return c, cli.Usage("only one of --body and --args can be standard input")
	}
	source, err := cli.ReadInput(in, "the body", o.body)
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
	if c.Expect, err = o.expected(); c.Expect != nil {
		c.Place = cases.Place{File: o.expect, Index: cases.Whole}
	}
	return c, err
}

func (o options) arguments(in io.Reader, kind sandbox.Kind) (sandbox.Args, error) {
	if o.args == "" {
		return sandbox.Args{}, nil
	}
	text, err := cli.ReadInput(in, "the arguments", o.args)
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
	switch level := sandbox.Level(o.level); level {
	case "", sandbox.LevelAuto, sandbox.LevelProcess, sandbox.LevelWasm:
		l.Level = level
	default:
		return l, cli.Usage("--level is %q, want auto, process or wasm", o.level)
	}
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
