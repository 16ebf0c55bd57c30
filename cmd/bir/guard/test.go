package guard

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	host "github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardcases"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// testOptions are the flags of `bir guard test`.
type testOptions struct {
	request, cases, kind string
	asJSON               bool
}

func newTest(a *app.App) *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test MODULE --case FILE|DIR",
		Short: "Put requests to a module and hold its verdicts against the expected ones",
		Long: "MODULE is a file that need not be installed, or the name of a built-in guard. A file of cases is a list of\n" +
			"{\"id\", \"request\": {\"kind\", ...}, \"expect\": {\"allow\": true|false, \"code\"}}; a folder stands for its *.json files.\n" +
			"The exit code is 0 when all cases are as expected. With --request there is one request and no expectation: then it\n" +
			"is 0 when the guard allows and 1 when it denies.\n\n" + cli.ExitCodes,
		Example: "  bir guard test my-rule.wasm --case cases\n" +
			"  bir guard test my-rule.wasm --case cases.json --kind step --json\n" +
			"  bir guard test my-rule.wasm --request request.json\n" +
			"  echo '{\"kind\":\"value\",\"parameter\":\"region\",\"value\":\"x; ls\",\"sample\":\"eu\",\"plan\":{\"risk\":\"runs\"}}' |\n" +
			"    bir guard test injection-guard --request -",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return test(cmd.Context(), a, args[0], o)
		},
	}
	cmd.Flags().StringVar(&o.cases, "case", "", "file or folder of cases")
	cmd.Flags().StringVar(&o.kind, "kind", "", "only the cases of this kind: pin, value or step")
	cmd.Flags().StringVar(&o.request, "request", "", "file with one request as JSON, - for standard input")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON, with --case a line for each")
	return cmd
}

func test(ctx context.Context, a *app.App, module string, o testOptions) error {
	switch {
	case (o.request == "") == (o.cases == ""):
		return cli.Usage("give --case with a file or folder of cases, or --request with one request")
	case o.kind != "" && o.cases == "":
		return cli.Usage("--kind goes with --case")
	}
	ask, err := prepare(a, o)
	if err != nil {
		return err
	}
	cfg, err := a.GuardConfig()
	if err != nil {
		return err
	}
	trial, err := host.OpenTrial(ctx, cfg, module)
	if err != nil {
		return cli.Usage("%s: %w", module, err)
	}
	defer trial.Close(ctx)
	return ask(ctx, trial)
}

// prepare reads the input, so that a wrong file is named before anything is
// compiled.
func prepare(a *app.App, o testOptions) (func(context.Context, *host.Trial) error, error) {
	if o.request != "" {
		req, err := readRequest(a.In, o.request)
		return func(ctx context.Context, trial *host.Trial) error {
			return testOne(ctx, a.Out, trial, req, o.asJSON)
		}, err
	}
	all, err := guardcases.Load(o.cases)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	all, err = ofKind(all, guardsdk.Kind(o.kind))
	return func(ctx context.Context, trial *host.Trial) error {
		return testCases(ctx, a.Out, trial, all, o.asJSON)
	}, err
}

func ofKind(all []guardcases.Case, kind guardsdk.Kind) ([]guardcases.Case, error) {
	if kind == "" {
		return all, nil
	}
	var wanted []guardcases.Case
	for _, c := range all {
		if c.Request.Kind == kind {
			wanted = append(wanted, c)
		}
	}
	if wanted == nil {
		return nil, cli.Usage("no case is of the kind %q", kind)
	}
	return wanted, nil
}

func testOne(ctx context.Context, out io.Writer, trial *host.Trial, req guardsdk.Request, asJSON bool) error {
	v, err := trial.Ask(ctx, req)
	if err != nil {
		return cli.Usage("%w", err)
	}
	if asJSON {
		err = cli.JSON(out, v)
	} else {
		printVerdict(out, v)
	}
	if err == nil && !v.Verdict.Allow {
		return cli.ErrSilent
	}
	return err
}

func printVerdict(w io.Writer, v host.ModuleVerdict) {
	fmt.Fprintf(w, "%s  %s in %s, %s of memory\n", word(v.Verdict.Allow), v.Module, brief(v.Duration), size(int64(v.Memory)))
	for _, line := range []string{v.Verdict.Code, v.Verdict.Reason, v.Failure, v.Printed} {
		if line != "" {
			fmt.Fprintf(w, "   %s\n", line)
		}
	}
}

// caseLine is how one case ended, as `--json` prints it.
type caseLine struct {
	ID          string           `json:"id"`
	OK          bool             `json:"ok"`
	Kind        guardsdk.Kind    `json:"kind"`
	Verdict     guardsdk.Verdict `json:"verdict"`
	Difference  string           `json:"difference,omitempty"`
	Failure     string           `json:"failure,omitempty"`
	Printed     string           `json:"printed,omitempty"`
	DurationMS  float64          `json:"durationMs"`
	MemoryBytes uint64           `json:"memoryBytes"`
}

func testCases(ctx context.Context, out io.Writer, trial *host.Trial, all []guardcases.Case, asJSON bool) error {
	started, failed := time.Now(), 0
	for i, c := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		v, err := trial.Ask(ctx, c.Request)
		if err != nil {
			return cli.Usage("case %d %s: %w", i+1, c.ID, err)
		}
		line := caseLine{ID: c.ID, Kind: v.Kind, Verdict: v.Verdict, Difference: c.Expect.Difference(v.Verdict), Failure: v.Failure,
			Printed: v.Printed, DurationMS: float64(v.Duration.Microseconds()) / 1000, MemoryBytes: v.Memory}
		line.OK = line.Difference == ""
		if !line.OK {
			failed++
		}
		if err := line.print(out, asJSON, i+1); err != nil {
			return err
		}
	}
	if !asJSON {
		fmt.Fprintf(out, "%d of %d cases as expected in %s\n", len(all)-failed, len(all), brief(time.Since(started)))
	}
	if failed > 0 {
		return cli.ErrSilent
	}
	return nil
}

func (l caseLine) print(out io.Writer, asJSON bool, number int) error {
	if asJSON {
		return cli.JSONLine(out, l)
	}
	mark, name := cli.Good("✓"), l.ID
	if !l.OK {
		mark = cli.Bad("×")
	}
	if name == "" {
		name = fmt.Sprintf("case %d", number)
	}
	took := time.Duration(l.DurationMS * float64(time.Millisecond))
	_, err := fmt.Fprintf(out, "%s %s: %s in %s, %s of memory\n", mark, name, word(l.Verdict.Allow), brief(took), size(int64(l.MemoryBytes)))
	for _, text := range []string{l.Difference, l.Failure, l.Printed} {
		if text != "" {
			fmt.Fprintf(out, "    %s\n", text)
		}
	}
	return err
}
