// Package replay has the command that runs a scenario for a new prompt: bir replay.
package replay

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/bir/scenario"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/derive"
	"github.com/bir-run/bir/engine/plan"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/service"
	"github.com/bir-run/bir/sandbox"
)

// options are the flags of `bir replay`.
type options struct {
	scenario, prompt string
	dry              bool
	against          string
	servers, headers []string
	asJSON           bool
}

// New declares `bir replay`.
func New(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "replay --scenario SCENARIO --prompt TEXT",
		Short: "Run a scenario for a new prompt, with no model in the loop",
		Long: `Derives the parameters by aligning the prompt with the recorded one, computes each step's
input in the sandbox, asks the guards, calls the tool on the upstream and threads its output
into later steps. It stops at the first step without a result and says what may be assumed.

The upstream is started from the command that was recorded, or reached at the recorded URL,
unless --server names another. Headers are not recorded: what a remote server needs to let you
in goes into --server-header.
--dry uses the recorded outputs and calls nothing. --against RUN uses the outputs of another
run and compares each computed input with what that run really sent.

` + cli.ExitCodes,
		Example: "  bir replay --scenario scn_0192… --prompt \"find the riskiest device in region us-east\"\n" +
			"  bir replay --scenario scn_0192… --prompt \"…\" --dry --json\n" +
			"  bir replay --scenario scn_0192… --against run_0193…\n" +
			"  bir replay --scenario scn_0192… --prompt \"…\" --server 'fleet=npx -y @modelcontextprotocol/server-filesystem /data'\n" +
			"  bir replay --scenario scn_0192… --prompt \"…\" --server tracker=https://tracker.example/mcp --server-header 'tracker=Authorization: Bearer …'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.scenario, "scenario", "", "the scenario, scn_…, or its run, run_…")
	f.StringVar(&o.prompt, "prompt", "", "what to do now; with --against: that run's prompt by default")
	f.BoolVar(&o.dry, "dry", false, "use the recorded outputs; call nothing")
	f.StringVar(&o.against, "against", "", "dry, on this run's outputs, comparing inputs")
	f.StringArrayVar(&o.servers, "server", nil, "NAME=COMMAND or NAME=URL in the place of a recorded server; may be repeated")
	f.StringArrayVar(&o.headers, "server-header", nil, "NAME=KEY: VALUE to send to a remote server; may be repeated")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	for flag, offer := range map[string]cobra.CompletionFunc{"scenario": a.CompleteScenarios, "against": a.CompleteRuns} {
		_ = cmd.RegisterFlagCompletionFunc(flag, offer) // fails only for a flag that does not exist
	}
	return cmd
}

// job is a replay that is ready to run.
type job struct {
	scn      engine.Scenario
	source   recorder.RunWithSteps // the run that the scenario was calculated from
	recorded *plan.Recorded        // nil: live
	live     *upstreams            // nil: dry
	world    sandbox.World
	prompt   string
	derived  derive.Result
}

func run(ctx context.Context, a *app.App, o options) error {
	j, err := prepare(ctx, a, o)
	if err != nil {
		return err
	}
	if declined := j.decline(); declined != nil {
		return declined
	}
	pool, err := a.Pool()
	if err != nil {
		return err
	}
	defer pool.Close()
	guards, err := a.Guards(ctx)
	if err != nil {
		return err
	}
	defer guards.Close(context.WithoutCancel(ctx))
	cfg := plan.Config{
		Scenario:    j.scn,
		Params:      j.derived.Params,
		Evaluator:   pool,
		Guards:      judge{guards},
		World:       j.world,
		StepTimeout: a.Env.StepTimeout,
		Dry:         j.recorded != nil,
		Logger:      a.Log,
	}
	if j.live != nil {
		cfg.Executor = j.live
		defer j.live.close()
	} else {
		cfg.Executor = j.recorded
	}
	return j.play(ctx, a, o, cfg)
}

func (j *job) play(ctx context.Context, a *app.App, o options, cfg plan.Config) error {
	if !o.asJSON {
		j.printHead(a.Out)
		cfg.OnArm = func(verdicts []plan.Verdict) { printVerdicts(a.Out, verdicts) }
		cfg.OnStep = func(s plan.StepResult) { printStep(a.Out, s) }
	}
	started := time.Now()
	result, err := plan.New(cfg).Run(ctx)
	if err != nil {
		return err
	}
	end := ending{
		ScenarioID: j.scn.ID, Prompt: j.prompt, Dry: j.recorded != nil, Derived: j.derived,
		Result: result, DurationMS: float64(time.Since(started).Microseconds()) / 1000,
	}
	if o.against != "" {
		end.compare(j.recorded)
	}
	if o.asJSON {
		err = cli.JSON(a.Out, end)
	} else {
		end.print(a.Out)
	}
	if err == nil && !end.asExpected() {
		return cli.ErrSilent
	}
	return err
}

// prepare reads what the replay needs and decides where its outputs come from.
func prepare(ctx context.Context, a *app.App, o options) (*job, error) {
	if o.scenario == "" {
		return nil, cli.Hint(cli.Usage("--scenario is missing"), "`bir scenario list` shows the scenarios")
	}
	if o.prompt == "" && o.against == "" {
		return nil, cli.Usage("--prompt is missing: say what to do now")
	}
	scn, err := scenario.Fetch(ctx, a, o.scenario)
	if err != nil {
		return nil, err
	}
	if scn.State != engine.StateReady {
		return nil, cli.Hint(cli.Failed("%s is not ready: %s", scn.ID, scn.Problem), "`bir scenario show %s` shows its bodies", scn.ID)
	}
	svc, err := a.Service(ctx)
	if err != nil {
		return nil, err
	}
	j := &job{scn: scn, prompt: o.prompt, world: sandbox.World{Now: time.Now().UTC()}}
	if j.source, err = svc.Run(ctx, scn.RunID); err != nil {
		return nil, err
	}
	from := j.source
	if o.against != "" {
		if from, err = svc.Run(ctx, o.against); err != nil {
			return nil, err
		}
		if j.prompt == "" {
			j.prompt = from.Run.Input
		}
		if j.prompt == "" {
			return nil, cli.Hint(cli.Usage("%s has no prompt", o.against), "give one with --prompt, or set it with `bir runs prompt`")
		}
	}
	if o.dry || o.against != "" {
		rec := service.Recording(from)
		j.recorded, j.world.Now = plan.NewRecorded(rec), rec.RecordedAt
	} else if j.live, err = newUpstreams(a, j.source.Run.Metadata.Servers, o.servers, o.headers); err != nil {
		return nil, err
	}
	j.derived = derive.Align(scn.Intent, scn.ParamsObject, j.prompt)
	return j, nil
}

// decline refuses a prompt that is not the recorded task or lacks its target.
func (j *job) decline() error {
	switch {
	case len(j.derived.Missing) > 0:
		return cli.Hint(cli.Failed("the prompt does not say %s", strings.Join(j.derived.Missing, " and ")),
			"the recorded prompt was: %s", j.scn.Intent)
	case !j.derived.SameTask:
		return cli.Hint(cli.Failed("the prompt is another task than the recorded one: %s", j.derived.Note),
			"the recorded prompt was: %s", j.scn.Intent)
	}
	return nil
}

// ending is what `bir replay --json` prints.
type ending struct {
	ScenarioID string        `json:"scenarioId"`
	Prompt     string        `json:"prompt"`
	Dry        bool          `json:"dry"`
	Derived    derive.Result `json:"derived"`
	plan.Result
	Comparisons []plan.Comparison `json:"comparisons,omitempty"`
	NotRepeated int               `json:"notRepeated,omitempty"` // calls of the other run that no step made
	DurationMS  float64           `json:"durationMs"`
}

func (e *ending) compare(r *plan.Recorded) {
	e.Comparisons, e.NotRepeated = r.Comparisons(), r.Left()
}

func (e *ending) asExpected() bool {
	for _, c := range e.Comparisons {
		if c.Difference != "" {
			return false
		}
	}
	return e.Done() && e.NotRepeated == 0
}

func head(raw json.RawMessage, n int) string { return cli.Head(string(raw), n) }
