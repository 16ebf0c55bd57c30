package logic

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRepeatRunsOncePerChange drives the ticks by hand: no clock is waited for.
func TestRepeatRunsOncePerChange(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	tick, looked := make(chan time.Time), make(chan string)
	states := []string{"a", "a", "b", "b", "c", "c"} // one a look
	var ran []string
	done := make(chan struct{})
	go func() { // ends with ctx
		defer close(done)
		repeat(ctx, tick, func(context.Context) string {
			state := states[0]
			states = states[min(1, len(states)-1):]
			looked <- state
			return state
		}, func() { ran = append(ran, "run") })
	}()
	var seen []string
	look := func() { seen = append(seen, <-looked) }
	look() // before the first run
	for range 3 {
		tick <- time.Time{}
		look()
		if seen[len(seen)-1] != seen[len(seen)-2] {
			look() // before the next run
		}
	}
	tick <- time.Time{}
	look()
	cancel()
	<-done
	// a (run) a b, b (run) c, c (run) c
	if diff := cmp.Diff([]string{"a", "a", "b", "b", "c", "c", "c"}, seen); diff != "" {
		t.Errorf("looks (-want +got):\n%s", diff)
	}
	if len(ran) != 3 {
		t.Errorf("%d runs, want 3", len(ran))
	}
}

func TestStateChangesWithWhatIsRead(t *testing.T) {
	dir := t.TempDir()
	body, all := filepath.Join(dir, "b.js"), filepath.Join(dir, "cases")
	tst := tester{options: options{body: body, cases: all}}
	last := tst.state(t.Context())
	for _, step := range []struct {
		name    string
		do      func() error
		changes bool
	}{
		{"the body comes", func() error { return os.WriteFile(body, []byte("return 1"), 0o600) }, true},
		{"nothing", func() error { return nil }, false},
		{"it is saved with another size", func() error { return os.WriteFile(body, []byte("return 12"), 0o600) }, true},
		{"it is saved later", func() error { return os.Chtimes(body, time.Time{}, time.Unix(2e9, 0)) }, true},
		{"the folder comes", func() error { return os.Mkdir(all, 0o700) }, true},
		{"a case comes", func() error { return os.WriteFile(filepath.Join(all, "a.json"), []byte("[]"), 0o600) }, true},
		{"a case is saved", func() error { return os.WriteFile(filepath.Join(all, "a.json"), []byte("[ ]"), 0o600) }, true},
		{"the body goes", func() error { return os.Remove(body) }, true},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		now := tst.state(t.Context())
		if (now != last) != step.changes {
			t.Errorf("%s: the state is %q after %q", step.name, now, last)
		}
		last = now
	}
}

func TestFlagsThatDoNotGoTogetherAreRefused(t *testing.T) {
	for _, tt := range []struct {
		options  options
		scenario bool
		want     string
	}{
		{options{body: "b"}, true, "neither --cases nor --body"},
		{options{body: "b", cases: "c"}, false, "exclude each other"},
		{options{update: true}, true, "what was recorded stays"},
		{options{update: true, body: "b"}, false, "--expect"},
		{options{update: true, cases: "c", format: "tap"}, false, "--format text only"},
		{options{watch: true, cases: "c", format: "junit"}, false, "never ends"},
		{options{watch: true, body: "-"}, false, "does not change"},
		{options{asJSON: true, cases: "c", format: "tap"}, false, "--json and --format tap"},
	} {
		err := tt.options.check(tt.scenario)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.options, err, tt.want)
		}
	}
}

func TestMarkStandsBelowTheColumn(t *testing.T) {
	long := strings.Repeat("x", 150) + "HERE" + strings.Repeat("y", 150)
	for _, tt := range []struct {
		source       string
		line, column int
		text, mark   string
	}{
		{"a\n\tbad()", 2, 2, " bad()", " ^"},
		{"'😀' + bad", 1, 8, "'😀' + bad", "      ^"},
		{long, 1, 151, "…" + strings.Repeat("x", 20) + "HERE" + strings.Repeat("y", 75) + "…", strings.Repeat(" ", 21) + "^"},
	} {
		text, mark, ok := marked(tt.source, tt.line, tt.column)
		if !ok || text != tt.text || mark != tt.mark {
			t.Errorf("got %q\n%q", text, mark)
		}
	}
	if _, _, ok := marked("a", 2, 1); ok {
		t.Error("a line that is not there was shown")
	}
}
