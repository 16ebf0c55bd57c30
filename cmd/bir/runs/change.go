package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/renameio/v2/maybe"
	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/client"
)

func newPrompt(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:               "prompt RUN TEXT",
		Short:             "Set the prompt of a run that a standalone proxy could not see",
		Example:           `  bir runs prompt run_0192… "find the riskiest device in region eu-west"`,
		Args:              cobra.ExactArgs(2),
		ValidArgsFunction: a.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return prompt(cmd.Context(), a, args[0], args[1])
		},
	}
}

func prompt(ctx context.Context, a *app.App, id, text string) error {
	if strings.TrimSpace(text) == "" {
		return cli.Usage("the prompt is empty")
	}
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	if err := svc.PatchRun(ctx, id, client.Patch{Input: &text}); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "%s: prompt set\n", id)
	return nil
}

func newExport(a *app.App) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "export RUN",
		Short: "Write a run as JSON, for a bug report or a test",
		Long: "Writes {\"format\":\"bir-run\",\"version\":1,\"run\":{…},\"steps\":[…]} with every id kept, as recorded:\n" +
			"secrets were redacted before they reached the service.\n\n" + cli.ExitCodes,
		Example:           "  bir runs export run_0192… > run.json\n  bir runs export run_0192… --output run.json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return export(cmd.Context(), a, args[0], output)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "-", "file to write, - for standard output")
	return cmd
}

func export(ctx context.Context, a *app.App, id, output string) error {
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	run, err := svc.Run(ctx, id)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	exported := recorder.Export{Format: recorder.ExportFormat, Version: recorder.ExportVersion, RunWithSteps: run}
	if err := cli.JSON(&text, exported); err != nil {
		return err
	}
	if output == "-" {
		_, err = a.Out.Write(text.Bytes())
		return err
	}
	if err := maybe.WriteFile(output, text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", output, err)
	}
	fmt.Fprintf(a.Out, "%s: %d rows written to %s\n", id, len(run.Steps), output)
	return nil
}

func newImport(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "import FILE",
		Short:   "Read a run that `bir runs export` wrote; - for standard input",
		Long:    "Ids are kept, so importing the same file twice books it once.\n\n" + cli.ExitCodes,
		Example: "  bir runs import run.json\n  bir runs import - < run.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return importRun(cmd.Context(), a, args[0])
		},
	}
}

func importRun(ctx context.Context, a *app.App, path string) error {
	text, err := cli.ReadInput(a.In, "the run", path)
	if err != nil {
		return err
	}
	exported, err := parseExport(path, text)
	if err != nil {
		return err
	}
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	if err := svc.Import(ctx, exported.RunWithSteps); err != nil {
		return fmt.Errorf("import %s: %w", exported.Run.ID, err)
	}
	fmt.Fprintf(a.Out, "%s: imported, %d rows\n", exported.Run.ID, len(exported.Steps))
	return nil
}

func parseExport(path string, text []byte) (recorder.Export, error) {
	var e recorder.Export
	if err := json.Unmarshal(text, &e); err != nil {
		return e, cli.Usage("%s is not JSON: %w", path, err)
	}
	switch {
	case e.Format != recorder.ExportFormat:
		return e, cli.Usage("%s is not an exported run: \"format\" is %q, want %q", path, e.Format, recorder.ExportFormat)
	case e.Version != recorder.ExportVersion:
		return e, cli.Usage("%s has version %d of the form; this bir reads version %d", path, e.Version, recorder.ExportVersion)
	case !strings.HasPrefix(e.Run.ID, "run_"):
		return e, cli.Usage("%s: \"run.id\" is %q, want run_…", path, e.Run.ID)
	}
	return e, nil
}

func newRemove(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:               "rm RUN…",
		Short:             "Delete runs, their scenarios and their edits",
		Example:           "  bir runs rm run_0192…",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.CompleteRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			return remove(cmd.Context(), a, args)
		},
	}
}

func remove(ctx context.Context, a *app.App, ids []string) error {
	svc, err := a.Service(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, id := range ids {
		if err := svc.DeleteRun(ctx, id); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", id, err))
			continue
		}
		fmt.Fprintf(a.Out, "%s: deleted\n", id)
	}
	return errors.Join(errs...)
}
