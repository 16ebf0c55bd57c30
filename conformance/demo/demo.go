// Package demo walks bir's main job end to end on real input: a real MCP server
// is wrapped, a scripted host does a job once, and the job becomes a scenario that
// is edited, tested and replayed. Every step runs the real command and shows it.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Config says where the demonstration works and with which binaries.
type Config struct {
	Dir    string                            // emptied at the start; holds the fleet and bir's data
	NPM    string                            // folder with node_modules; empty: the small Go server
	Binary func(name string) (string, error) // path of one of bir's binaries
	Env    []string                          // of every command, BIR_HOME aside
	Out    io.Writer
}

// Run walks through the demonstration. It stops everything that it started, also
// when ctx ends.
func Run(ctx context.Context, cfg Config) error {
	d, err := newDemo(cfg)
	if err != nil {
		return err
	}
	release, err := claim(filepath.Dir(d.home))
	if err != nil {
		return err
	}
	defer release()
	d.stopService() // one that a demonstration before this left, if it was killed
	defer d.stopService()
	started := time.Now()
	for _, chapter := range []func(context.Context) error{
		d.prepare, d.record, d.calculate, d.hostileBodies, d.edits, d.replay, d.hostileParameter, d.customGuard,
	} {
		if err := chapter(ctx); err != nil {
			if ctx.Err() != nil {
				return errors.New("interrupted; everything that was started is stopped")
			}
			return err
		}
	}
	d.close(time.Since(started))
	return nil
}

type demo struct {
	cfg      Config
	bir      string
	proxy    string
	server   []string // command of the wrapped server
	label    string   // what the server is, for people
	fleetDir string
	home     string
	fleet    []Region
	chapter  int
	replayed time.Duration

	runID, scenarioID string
}

func newDemo(cfg Config) (*demo, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	d := &demo{cfg: cfg, fleetDir: filepath.Join(dir, "fleet"), home: filepath.Join(dir, "home"), fleet: NewFleet(7)}
	if d.bir, err = cfg.Binary("bir"); err != nil {
		return nil, err
	}
	if d.proxy, err = cfg.Binary("bir-proxy"); err != nil {
		return nil, err
	}
	d.chooseServer()
	return d, nil
}

// chooseServer takes the npm server where node and the package are there, else
// our own small one, clearly labelled.
func (d *demo) chooseServer() {
	script, err := filepath.Abs(filepath.Join(d.cfg.NPM, "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js"))
	node, nodeErr := exec.LookPath("node")
	if _, statErr := os.Stat(script); d.cfg.NPM != "" && err == nil && nodeErr == nil && statErr == nil {
		d.server = []string{node, script, d.fleetDir}
		d.label = "the npm package @modelcontextprotocol/server-filesystem"
		return
	}
	d.server = []string{d.bir, "demo", "files", d.fleetDir}
	d.label = "bir's own small Go file server, since npm's is not installed here"
}

func (d *demo) prompt(region string) string {
	return "find the riskiest device in region " + region + " and write its report"
}

func (d *demo) region(name string) Region {
	for _, r := range d.fleet {
		if r.Name == name {
			return r
		}
	}
	panic("no region " + name)
}

func (d *demo) folder(region string) string { return filepath.Join(d.fleetDir, region) }

// title opens a chapter; say explains the next command in one line.
func (d *demo) title(format string, args ...any) {
	d.chapter++
	fmt.Fprintf(d.cfg.Out, "\n%d. %s\n", d.chapter, fmt.Sprintf(format, args...))
}

func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.cfg.Out, "   %s\n", fmt.Sprintf(format, args...))
}

// run executes one bir command, shows it with at most lines lines of its output,
// and fails unless it ended with the exit code that the story needs.
func (d *demo) run(ctx context.Context, want, lines int, args ...string) (string, error) {
	fmt.Fprintf(d.cfg.Out, "   $ bir %s\n", shown(args))
	cmd := exec.CommandContext(ctx, d.bir, args...)
	cmd.Env = d.env()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	d.show(string(out), lines)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", fmt.Errorf("bir %s: %w", args[0], err)
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		return "", fmt.Errorf("bir %s ended with %d, want %d:\n%s", shown(args), code, want, out)
	}
	return string(out), nil
}

// quiet executes one bir command without showing it, for JSON that the story reads.
func (d *demo) quiet(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, d.bir, args...)
	cmd.Env = d.env()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("bir %s: %w", shown(args), err)
	}
	return out, nil
}

func (d *demo) show(out string, lines int) {
	all := strings.Split(strings.TrimRight(out, "\n"), "\n")
	for i, line := range all {
		if i == lines {
			fmt.Fprintf(d.cfg.Out, "     … %d more lines\n", len(all)-lines)
			return
		}
		fmt.Fprintf(d.cfg.Out, "     %s\n", line)
	}
}

func (d *demo) env() []string {
	return append(append([]string{}, d.cfg.Env...), "BIR_HOME="+d.home)
}

func shown(args []string) string {
	var quoted []string
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " ;\"'$&|<>*") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted = append(quoted, a)
	}
	return strings.Join(quoted, " ")
}

// stopService ends the embedded service that the commands started, also after an
// interrupt, so it has a context of its own.
func (d *demo) stopService() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, _ = d.quiet(ctx, "down", "--service") // it may never have started
}
