package logic

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/bir/logic/repl"
	"github.com/bir-run/bir/cmd/bir/logic/report"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox"
)

func newRun(a *app.App) *cobra.Command {
	var step int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run SCENARIO --step N",
		Short: "Try expressions over the recorded arguments of a step",
		Long: `Reads expressions, evaluates each in the sandbox and shows its value. params, respParams and
toolOutput are what the step's bodies had in the recording; result is JSON.parse(toolOutput) and
input what the tool was really given. let, const, function and class stay for later lines. An
input goes on over several lines while a bracket is open. .help lists the commands.

Without a terminal each line of standard input is an input; exit 1 when one gave an error.
With --json each answer is one line: {"input","value" or "text" or "error","console":[]}

` + cli.ExitCodes,
		Example: "  bir logic run scn_0192… --step 2\n" +
			"  echo 'result.content[0].text.length' | bir logic run scn_0192… --step 2",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.CompleteScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, args[0], step, asJSON)
		},
	}
	cmd.Flags().IntVar(&step, "step", 0, "the step, from 1")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object an input, a line each")
	return cmd
}

func run(ctx context.Context, a *app.App, id string, step int, asJSON bool) error {
	pool, err := a.Pool()
	if err != nil {
		return err
	}
	defer pool.Close()
	_, args, err := fetchStep(ctx, a, pool, id, step)
	if err != nil {
		return err
	}
	args.noteMissing(a.Err)
	session := repl.NewSession(pool, sessionValues(args), args.World)
	history := repl.OpenHistory(filepath.Join(a.Env.Home, "logic-history"))
	lines := repl.Open(a.In, a.Out, history, session.Complete)
	good, err := repl.Run(ctx, repl.Config{
		Session: session, Lines: lines, Out: a.Out, JSON: asJSON,
		Welcome:  welcome(lines, args),
		Commands: map[string]string{".args": describeArgs(args), ".body": describeBodies(args)},
	})
	if err != nil {
		return err
	}
	if err := history.Save(); err != nil {
		a.Log.Warn("save the history of bir logic run", "error", err)
	}
	if !good && !repl.Typed(lines) {
		return cli.ErrSilent
	}
	return nil
}

// sessionValues are the recorded arguments, and what is at hand beside them.
func sessionValues(args stepArgs) []sandbox.Arg {
	text, err := json.Marshal(args.ToolOutput)
	if err != nil {
		text = []byte(`""`) // a string marshals
	}
	values := []sandbox.Arg{
		{Name: "params", Value: args.Params},
		{Name: "respParams", Value: args.RespParams},
		{Name: "toolOutput", Value: text},
		{Name: "input", Value: args.call.Input},
	}
	if json.Valid([]byte(args.ToolOutput)) {
		values = append(values, sandbox.Arg{Name: "result", Value: json.RawMessage(args.ToolOutput)})
	}
	return values
}

func welcome(lines repl.Lines, args stepArgs) string {
	if !repl.Typed(lines) {
		return ""
	}
	return fmt.Sprintf("step %d, %s. Type an expression over params, respParams, toolOutput or result; .help for more.\n",
		args.step.StepIndex, args.step.ToolName)
}

func describeArgs(args stepArgs) string {
	var out strings.Builder
	for _, v := range sessionValues(args) {
		fmt.Fprintf(&out, "%s = %s\n", v.Name, report.Pretty(v.Value))
	}
	return out.String()
}

func describeBodies(args stepArgs) string {
	return report.Visible(fmt.Sprintf("// input\n%s\n\n// output\n%s\n",
		strings.TrimSpace(args.step.ToolInputLogic), strings.TrimSpace(args.step.ToolOutputLogic)))
}
