package demo

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/relay/relaytest"
)

func TestMain(m *testing.M) {
	relaytest.HeedSignals()
	code := m.Run()
	built.Remove()
	os.Exit(code)
}

func TestTruthIsTheRiskiestActiveDevice(t *testing.T) {
	for _, r := range NewFleet(7) {
		worst, text := r.Truth()
		for _, d := range r.Devices {
			if d.Status == "active" && d.Risk > worst.Risk {
				t.Errorf("%s: %s is riskier than %s", r.Name, d.ID, worst.ID)
			}
		}
		log := r.Logs[worst.ID]
		for _, part := range []string{worst.ID, r.Name, worst.Owner, log[len(log)-1]} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: the report lacks %q:\n%s", r.Name, part, text)
			}
		}
	}
}

// TestPickingByRiskAloneIsWrongElsewhere holds what the hand edit is for.
func TestPickingByRiskAloneIsWrongElsewhere(t *testing.T) {
	for i, r := range NewFleet(7) {
		var top Device
		for _, d := range r.Devices {
			if d.Risk > top.Risk {
				top = d
			}
		}
		worst, _ := r.Truth()
		if same := top.ID == worst.ID; same != (i == 0) {
			t.Errorf("%s: the riskiest of all is %s, the riskiest active %s", r.Name, top.ID, worst.ID)
		}
	}
}

func TestFolderOfSomebodyElseIsNotEmptied(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "home")
	if err := os.WriteFile(kept, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Run(context.Background(), Config{Dir: dir, Binary: anyBinary, Out: &bytes.Buffer{}})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("err = %v, want a refusal that names the folder", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error("the file is gone")
	}
}

func TestOneDemonstrationAtATime(t *testing.T) {
	dir := t.TempDir()
	release, err := claim(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	err = Run(context.Background(), Config{Dir: dir, Binary: anyBinary, Out: &bytes.Buffer{}})
	if err == nil || !strings.Contains(err.Error(), "another demonstration") {
		t.Errorf("err = %v, want that another one is running", err)
	}
}

func anyBinary(name string) (string, error) { return name, nil }

// TestDemonstrationWorksTwiceInARow runs it with the npm server and with our own.
func TestDemonstrationWorksTwiceInARow(t *testing.T) {
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, npm := range []string{"../npm", ""} {
		var out bytes.Buffer
		err := Run(t.Context(), Config{
			Dir: dir, NPM: npm, Out: &out,
			Env:    append(os.Environ(), "BIR_LOGIC_TIMEOUT_MS=4000"), // a second is little for a machine that is busy with much else
			Binary: func(name string) (string, error) { return built.Path(bin, name), nil },
		})
		if err != nil {
			t.Fatalf("npm %q: %v\n%s", npm, err, out.String())
		}
		if !strings.Contains(out.String(), "byte for byte") || strings.Contains(out.String(), "\x1b[") {
			t.Errorf("npm %q: the output lacks its point or has escapes:\n%s", npm, out.String())
		}
		if _, err := os.Stat(filepath.Join(dir, "home", "service.json")); err == nil {
			t.Errorf("npm %q: the service still runs", npm)
		}
	}
}
