package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func (d *demo) prepare(context.Context) error {
	d.title("A fleet of devices")
	if err := os.RemoveAll(d.home); err != nil {
		return err
	}
	if err := os.MkdirAll(d.home, 0o700); err != nil {
		return err
	}
	if err := Write(d.fleetDir, d.fleet); err != nil {
		return err
	}
	d.say("%d regions with device lists, thresholds and logs, generated in %s", len(d.fleet), d.fleetDir)
	d.say("the MCP server: %s", d.label)
	return nil
}

// record does the job once, through the proxy.
func (d *demo) record(ctx context.Context) error {
	region := RegionNames[0]
	d.title("A job is done once, and recorded")
	d.say("a scripted host does \"%s\" over MCP: list, read, pick, read, write", d.prompt(region))
	args := append([]string{"--server-name", "fleet", "--"}, d.server...)
	fmt.Fprintf(d.cfg.Out, "   $ bir-proxy %s\n", shown(args))
	cmd := exec.CommandContext(ctx, d.proxy, args...)
	cmd.Env, cmd.Stderr = d.env(), nil
	h, err := connect(ctx, cmd)
	if err != nil {
		return err
	}
	got, err := h.job(ctx, d.folder(region))
	if closeErr := h.session.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("do the job: %w", err)
	}
	if device, want := d.region(region).Truth(); got != want {
		return fmt.Errorf("the host's own report on %s is wrong:\n%s", device.ID, got)
	}
	return d.recorded(ctx, region)
}

func (d *demo) recorded(ctx context.Context, region string) error {
	if err := d.findRun(ctx); err != nil {
		return err
	}
	d.say("the proxy saw the calls but not the prompt, so the owner adds it")
	if _, err := d.run(ctx, 0, 5, "runs", "prompt", d.runID, d.prompt(region)); err != nil {
		return err
	}
	_, err := d.run(ctx, 0, 30, "runs", "show", d.runID)
	return err
}

func (d *demo) findRun(ctx context.Context) error {
	out, err := d.quiet(ctx, "runs", "list", "--json")
	if err != nil {
		return err
	}
	var list struct{ Runs []struct{ ID string } }
	if err := json.Unmarshal(out, &list); err != nil {
		return err
	}
	if len(list.Runs) != 1 {
		return fmt.Errorf("%d runs were recorded, want 1", len(list.Runs))
	}
	d.runID = list.Runs[0].ID
	return nil
}

func (d *demo) calculate(ctx context.Context) error {
	d.title("The run becomes a scenario")
	d.say("each input is explained by where its value came from, and every body is proved in the sandbox")
	out, err := d.quiet(ctx, "scenario", "calc", d.runID, "--json")
	if err != nil {
		return err
	}
	var scenario struct{ ID string }
	if err := json.Unmarshal(out, &scenario); err != nil {
		return err
	}
	d.scenarioID = scenario.ID
	if _, err := d.run(ctx, 0, 5, "scenario", "calc", d.runID); err != nil {
		return err
	}
	_, err = d.run(ctx, 0, 80, "scenario", "show", d.scenarioID)
	return err
}

func (d *demo) hostileBodies(ctx context.Context) error {
	d.title("Bodies cannot hurt anyone")
	for _, body := range []struct{ name, why, source string }{
		{"endless.js", "a body that loops for ever is stopped", "while (true) {}"},
		{"hungry.js", "one that eats memory is stopped, too", "const all = [];\nfor (;;) all.push('x'.repeat(1000000) + all.length);"},
	} {
		path, err := d.file(body.name, body.source)
		if err != nil {
			return err
		}
		d.say("%s: %s", body.why, strings.ReplaceAll(body.source, "\n", " "))
		if _, err := d.run(ctx, 1, 6, "logic", "test", "--kind", "toolInput", "--body", path); err != nil {
			return err
		}
	}
	return nil
}

// file writes a small file beside the data and returns its path.
func (d *demo) file(name, text string) (string, error) {
	path := filepath.Join(filepath.Dir(d.home), name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// replay runs the edited scenario on another region and compares its report with
// the truth, which is computed from the generated data and not from any tool.
func (d *demo) replay(ctx context.Context) error {
	region := RegionNames[1]
	d.title("The scenario is replayed for %s, without a model", region)
	d.say("the guards that will be asked, compiled once:")
	if _, err := d.run(ctx, 0, 10, "guard", "list"); err != nil {
		return err
	}
	d.say("new parameters from the prompt, guards asked, the real server called through the same client as the proxy's")
	started := time.Now()
	if _, err := d.run(ctx, 0, 60, "replay", "--scenario", d.scenarioID, "--prompt", d.prompt(region)); err != nil {
		return err
	}
	d.replayed = time.Since(started)
	device, want := d.region(region).Truth()
	got, err := os.ReadFile(filepath.Join(d.folder(region), "reports", device.ID+".md"))
	if err != nil {
		return fmt.Errorf("the replay wrote no report for %s: %w", device.ID, err)
	}
	if string(got) != want {
		return fmt.Errorf("the replayed report is wrong:\n%s\nwant:\n%s", got, want)
	}
	d.say("the report on %s equals the truth computed independently, byte for byte", device.ID)
	return nil
}

func (d *demo) hostileParameter(ctx context.Context) error {
	d.title("A hostile parameter is stopped by a guard")
	hostile := RegionNames[0] + "; rm -rf /"
	_, err := d.run(ctx, 1, 12, "replay", "--scenario", d.scenarioID, "--prompt", d.prompt(hostile))
	return err
}

func (d *demo) close(took time.Duration) {
	d.title("What it cost")
	d.say("no tokens, no key, no account; the replay took %d ms, the whole demonstration %.1f s",
		d.replayed.Milliseconds(), took.Seconds())
	d.say("data: %s; look around with BIR_HOME=%s bir runs list", filepath.Dir(d.home), d.home)
}
