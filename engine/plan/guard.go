package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
	"github.com/bir-run/bir/sandbox"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// check asks the guards. Without guards nothing is allowed: no verdict, no call.
func (r *run) check(ctx context.Context, req guardsdk.Request) Decision {
	if r.cfg.Guards == nil {
		return Decision{Verdicts: []Verdict{{Module: "plan", Code: "no_guards", Reason: "no guards are loaded"}}}
	}
	return r.cfg.Guards.Check(ctx, req)
}

// reason is that of the first guard that denied.
func (d Decision) reason() string {
	for _, v := range d.Verdicts {
		if v.Allow {
			continue
		}
		if v.Reason != "" {
			return fmt.Sprintf("%s (%s)", v.Reason, v.Module)
		}
		return fmt.Sprintf("%s (%s)", v.Code, v.Module)
	}
	return "no reason was given"
}

func (r *run) valueRequest(name string, given json.RawMessage) guardsdk.Request {
	req := guardsdk.Request{
		ABI: guardsdk.ABI, Kind: guardsdk.KindValue, Plan: r.facts,
		Parameter: name, Value: given, Sample: r.cfg.Scenario.ParamsObject[name].SampleValue,
	}
	for _, step := range r.cfg.Scenario.Steps {
		req.Tools = append(req.Tools, step.ToolName)
	}
	req.Strings = append(stringsIn("value", given), stringsIn("sample", req.Sample)...)
	return req
}

func (r *run) stepRequest(step engine.Step, input json.RawMessage) guardsdk.Request {
	facts := r.facts
	facts.StepIndex = step.StepIndex
	facts.ToolCalls = r.sent[toolOf(step)]
	return guardsdk.Request{
		ABI: guardsdk.ABI, Kind: guardsdk.KindStep, Plan: facts,
		Server: step.ServerName, Tool: step.Tool(), Args: input, Strings: stringsIn("args", input),
	}
}

// toolOf names an upstream's tool: the same one under two names counts once.
func toolOf(step engine.Step) string { return step.ServerName + "\x00" + step.Tool() }

// clock is the time that the bodies read, for guards, which have no clock. Without
// one they get none: a rule about hours must not judge by a made-up date.
func clock(world sandbox.World) string {
	if world.Now.IsZero() {
		return ""
	}
	zone, err := time.LoadLocation(world.Zone)
	if err != nil {
		zone = time.UTC // the evaluator refuses the zone by name; nothing is sent
	}
	return world.Now.In(zone).Format(time.RFC3339)
}

// stringsIn lists the strings of a value with their paths, for guards that have
// no JSON parser.
func stringsIn(path string, raw json.RawMessage) []guardsdk.String {
	root, err := value.Parse(raw)
	if err != nil {
		return nil // a value that is no JSON has no strings; the guard sees the value itself
	}
	var all []guardsdk.String
	var walk func(path string, n *value.Node)
	walk = func(path string, n *value.Node) {
		switch n.Kind {
		case value.String:
			all = append(all, guardsdk.String{Path: path, Value: n.Text})
		case value.Array:
			for i, item := range n.Items {
				walk(fmt.Sprintf("%s[%d]", path, i), item)
			}
		case value.Object:
			for i, item := range n.Items {
				walk(path+"."+n.Keys[i], item)
			}
		}
	}
	walk(path, root)
	return all
}

var (
	runningWords = map[string]bool{
		"sql": true, "mysql": true, "postgres": true, "postgresql": true, "sqlite": true, "mariadb": true, "mssql": true,
		"query": true, "queries": true, "exec": true, "execute": true, "shell": true, "bash": true, "sh": true, "zsh": true,
		"powershell": true, "pwsh": true, "cmd": true, "command": true, "commands": true, "terminal": true, "eval": true,
		"script": true, "psql": true,
	}
	runningStems = []string{"sql", "query", "exec", "shell", "bash", "terminal"}
	writingTools = map[string]bool{"Edit": true, "MultiEdit": true, "Write": true, "NotebookEdit": true}
	writingWords = map[string]bool{"write": true, "edit": true, "append": true, "save": true, "patch": true}
	changeWords  = map[string]bool{"create": true, "put": true, "update": true, "move": true, "copy": true, "delete": true, "rename": true}
	fileWords    = map[string]bool{"file": true, "files": true, "directory": true, "folder": true, "document": true, "notebook": true}
)

// RiskOf says what a scenario does with its values. It errs to the risky side: a
// name that may mean running counts as running.
func RiskOf(s engine.Scenario) guardsdk.Risk {
	risk := guardsdk.RiskNone
	for _, step := range s.Steps {
		switch stepRisk(step) {
		case guardsdk.RiskRuns:
			return guardsdk.RiskRuns
		case guardsdk.RiskWrites:
			risk = guardsdk.RiskWrites
		}
	}
	return risk
}

func stepRisk(step engine.Step) guardsdk.Risk {
	tool, server := step.Tool(), step.ServerName
	if runs(tool) || runs(server) || runs(step.ToolName) {
		return guardsdk.RiskRuns
	}
	if writingTools[tool] {
		return guardsdk.RiskWrites
	}
	changes, files := false, false
	for _, word := range words.Segments(tool) {
		if writingWords[word] {
			return guardsdk.RiskWrites
		}
		changes, files = changes || changeWords[word], files || fileWords[word]
	}
	if changes && files {
		return guardsdk.RiskWrites
	}
	return guardsdk.RiskNone
}

// runs reads a name in any convention: run_sql, runSql, RunSQL, runsql.
func runs(name string) bool {
	for _, word := range words.Segments(name) {
		if runningWords[word] {
			return true
		}
		for _, stem := range runningStems {
			if strings.Contains(word, stem) {
				return true
			}
		}
	}
	return false
}
