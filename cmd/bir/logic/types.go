package logic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine/dts"
)

func newTypes(a *app.App) *cobra.Command {
	var step int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "types SCENARIO --step N",
		Short: "Print a .d.ts of what a step's bodies see",
		Long: `Prints TypeScript declarations of params, respParams and toolOutput, inferred from the
recording, for an editor to complete and check bodies with. Result is the type of
JSON.parse(toolOutput); Text, where the tool answered with JSON in a text, of that text.
What the recording did not hold cannot be in the types. A body that begins with
/// <reference path="step2.d.ts" /> is completed and checked by most editors.

` + cli.ExitCodes,
		Example: "  bir logic types scn_0192… --step 2 > step2.d.ts\n" +
			"  bir logic types run_0192… --step 1 --json",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return types(cmd.Context(), a, args[0], step, asJSON)
		},
	}
	cmd.Flags().IntVar(&step, "step", 0, "the step, from 1")
	cmd.Flags().BoolVar(&asJSON, "json", false, `print {"scenarioId", "stepIndex", "declarations"}`)
	return cmd
}

func types(ctx context.Context, a *app.App, id string, step int, asJSON bool) error {
	pool, err := a.Pool()
	if err != nil {
		return err
	}
	defer pool.Close()
	scn, args, err := fetchStep(ctx, a, pool, id, step)
	if err != nil {
		return err
	}
	text, err := declarations(scn.ID, args).Write()
	if err != nil {
		return err
	}
	if asJSON {
		return cli.JSON(a.Out, map[string]any{"scenarioId": scn.ID, "stepIndex": step, "declarations": text})
	}
	_, err = fmt.Fprint(a.Out, text)
	return err
}

// declarations describes the arguments of a step's bodies.
func declarations(scenario string, args stepArgs) dts.File {
	file := dts.File{
		Comment: []string{
			fmt.Sprintf("What the bodies of step %d (%s) of %s see.", args.step.StepIndex, args.step.ToolName, scenario),
			"Inferred from one recording: another answer may hold what this one did not.",
		},
		Variables: []dts.Variable{
			{Name: "params", Doc: "The parameters of the job, completed.", Sample: args.Params},
			{Name: "respParams", Doc: "What the output bodies of the steps before returned.", Sample: args.RespParams},
			{Name: "toolOutput", Doc: "What the tool answered, as text. Only the output body sees it.", Type: "string"},
		},
	}
	file.Comment = append(file.Comment, args.Missing...)
	if parsed, ok := parsedOutput(args.ToolOutput); ok {
		file.Aliases = append(file.Aliases, dts.Alias{Name: "Result", Doc: "What JSON.parse(toolOutput) gives.", Sample: parsed})
		text := gjson.GetBytes(parsed, "content.0.text")
		if inner, ok := parsedOutput(text.String()); ok && text.Type == gjson.String {
			file.Aliases = append(file.Aliases, dts.Alias{
				Name: "Text", Doc: "What JSON.parse(JSON.parse(toolOutput).content[0].text) gives.", Sample: inner,
			})
		}
	}
	return file
}

// parsedOutput is an output that is the JSON of an object or array.
func parsedOutput(text string) (json.RawMessage, bool) {
	parsed := gjson.Parse(text)
	if !gjson.Valid(text) || !parsed.IsObject() && !parsed.IsArray() {
		return nil, false
	}
	return json.RawMessage(text), true
}
