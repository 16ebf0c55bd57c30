package logic

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/bir-run/bir/cmd/bir/logic/report"
	"github.com/bir-run/bir/cmd/bir/scenario"
	"github.com/bir-run/bir/cmd/internal/cli"
)

const (
	// Looking is cheap, and works for every editor and file system; a notification
	// is lost where an editor puts a new file in place of the old one.
	lookAtFiles    = 200 * time.Millisecond
	lookAtScenario = time.Second

	clearScreen = "\x1b[H\x1b[2J\x1b[3J"
)

// watch runs the test at every change until ctx ends.
func (t tester) watch(ctx context.Context) error {
	pause := lookAtFiles
	if t.scenario != "" {
		pause = lookAtScenario
	}
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	first := true
	repeat(ctx, ticker.C, t.state, func() {
		t.again(ctx, first)
		first = false
	})
	return nil
}

// repeat calls run, and again after each tick that finds another state. It ends
// with ctx.
func repeat(ctx context.Context, tick <-chan time.Time, state func(context.Context) string, run func()) {
	for {
		seen := state(ctx) // before the run, so that a change during it is not missed
		run()
		for now := seen; now == seen; now = state(ctx) {
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
		}
	}
}

// again runs the test and shows what is wrong, also with what it reads: the next
// save may put it right.
func (t tester) again(ctx context.Context, first bool) {
	text := t.options.reportFormat() == report.Text
	switch {
	case text && onTerminal(t.app.Out):
		fmt.Fprint(t.app.Out, clearScreen)
	case text && !first:
		fmt.Fprintln(t.app.Out, "\nchanged, again:")
	}
	err := t.once(ctx)
	if ctx.Err() != nil {
		return
	}
	cli.Report(t.app.Err, err)
	if text {
		fmt.Fprintln(t.app.Out, "watching; Ctrl-C ends")
	}
}

// onTerminal tells a writer whose colours somebody sees.
func onTerminal(w io.Writer) bool {
	out, ok := w.(*colorprofile.Writer)
	return ok && out.Profile >= colorprofile.ASCII
}

// state is another text after each change of what the test reads.
func (t tester) state(ctx context.Context) string {
	if t.scenario != "" {
		scn, err := scenario.Fetch(ctx, t.app, t.scenario)
		return fmt.Sprint(scn.ID, scn.ChainRevision, scn.UpdatedAt, err)
	}
	var all strings.Builder
	for _, path := range []string{t.options.body, t.options.args, t.options.expect, t.options.cases} {
		if path != "" {
			describe(&all, path)
		}
	}
	return all.String()
}

// describe adds what changes when a file, or one in a folder, is saved.
func describe(all *strings.Builder, path string) {
	info, err := os.Stat(path)
	if err != nil {
		fmt.Fprintln(all, path, "is not there")
		return
	}
	fmt.Fprintln(all, path, info.Size(), info.ModTime().UnixNano())
	if !info.IsDir() {
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		fmt.Fprintln(all, err)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".json" {
			describe(all, filepath.Join(path, entry.Name()))
		}
	}
}
