package guard

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	host "github.com/bir-run/bir/sandbox/guard"
)

func newExplain(a *app.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain CALL.json",
		Short: "Show what each guard says to one request",
		Long: "CALL.json is a request as guards get it, - for standard input. Every guard is asked, also after a denial; nothing\n" +
			"is sent, logged or counted. The exit code is 0 when all allow and 1 when one denies.\n\n" + cli.ExitCodes,
		Example: "  bir guard explain call.json\n" +
			"  echo '{\"kind\":\"step\",\"server\":\"fleet\",\"tool\":\"read_text_file\",\"args\":{\"path\":\"/data/us-east/a.json\"}}' |\n" +
			"    bir guard explain -",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return explain(cmd.Context(), a, args[0], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func explain(ctx context.Context, a *app.App, path string, asJSON bool) error {
	req, err := readRequest(a.In, path)
	if err != nil {
		return err
	}
	guards, err := a.Guards(ctx)
	if err != nil {
		return err
	}
	defer guards.Close(context.WithoutCancel(ctx))
	decision := guards.Explain(ctx, req)
	if denial, denied := decision.Denial(); denied && denial.Verdict.Code == host.CodeBadRequest {
		return cli.Usage("%s: %s", path, denial.Verdict.Reason)
	}
	if asJSON {
		err = cli.JSON(a.Out, decision)
	} else {
		printDecision(a, guards.Modules(), decision)
	}
	if err == nil && !decision.Allow {
		return cli.ErrSilent
	}
	return err
}

func printDecision(a *app.App, modules []host.Module, decision host.Decision) {
	var rows [][]string
	for _, m := range modules {
		i := slices.IndexFunc(decision.Verdicts, func(v host.ModuleVerdict) bool { return v.Module == m.Name && v.SHA256 == m.SHA256 })
		if i < 0 {
			rows = append(rows, []string{m.Name, "-", "", "", "not asked: it answers " + joined(m.Kinds)})
			continue
		}
		v := decision.Verdicts[i]
		rows = append(rows, []string{m.Name, word(v.Verdict.Allow), brief(v.Duration), v.Verdict.Code, v.Verdict.Reason})
	}
	cli.Table(a.Out, []string{"GUARD", "SAYS", "IN", "CODE", "REASON"}, rows)
	fmt.Fprintf(a.Out, "together: %s\n", word(decision.Allow))
}
