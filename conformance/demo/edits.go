package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bir-run/bir/sandbox/guards/examples"
)

// pickStep is the step whose output body picks the device.
const pickStep = "2"

// edits changes the body that picks the device: once so that it breaks the
// recording, once for the better.
func (d *demo) edits(ctx context.Context) error {
	d.title("A body is edited by hand")
	body, err := d.outputLogic(ctx)
	if err != nil {
		return err
	}
	d.say("a change that picks the safest device instead breaks the recording, and is refused:")
	if err := d.change(ctx, 1, 14, body, "x.risk > best.risk", "x.risk < best.risk"); err != nil {
		return err
	}
	d.say("one that leaves retired devices out still reproduces it, and is saved:")
	const recorded = `typeof x.risk === "number"`
	if err := d.change(ctx, 0, 5, body, recorded, `x.status === "active" && `+recorded); err != nil {
		return err
	}
	_, err = d.run(ctx, 0, 5, "scenario", "edits", d.scenarioID)
	return err
}

// change saves the body with one expression in place of another.
func (d *demo) change(ctx context.Context, want, lines int, body, from, to string) error {
	if !strings.Contains(body, from) {
		return fmt.Errorf("the calculated body does not contain %q:\n%s", from, body)
	}
	d.say("- %s", from)
	d.say("+ %s", to)
	path, err := d.file("new-body.js", strings.Replace(body, from, to, 1))
	if err != nil {
		return err
	}
	_, err = d.run(ctx, want, lines, "scenario", "edit", d.scenarioID, "--step", pickStep, "--output-logic", path)
	return err
}

func (d *demo) outputLogic(ctx context.Context) (string, error) {
	out, err := d.quiet(ctx, "scenario", "show", d.scenarioID, "--step", pickStep, "--json")
	if err != nil {
		return "", err
	}
	var step struct{ ToolOutputLogic string }
	err = json.Unmarshal(out, &step)
	return step.ToolOutputLogic, err
}

// customGuard drops a rule into the folder and sees it obeyed.
func (d *demo) customGuard(ctx context.Context) error {
	region := RegionNames[2]
	d.title("A rule of one's own: nothing for %s", region)
	dir := filepath.Join(d.home, "guards")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	d.say("a WebAssembly module of 352 bytes that denies whatever has %s in it, dropped into %s", region, dir)
	module, err := fs.ReadFile(examples.Files(), examples.Module)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(examples.Module)), module, 0o600); err != nil {
		return err
	}
	if _, err := d.run(ctx, 0, 10, "guard", "list"); err != nil {
		return err
	}
	_, err = d.run(ctx, 1, 12, "replay", "--scenario", d.scenarioID, "--prompt", d.prompt(region))
	return err
}
