package sandbox_test

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTheCommittedGuestIsWhatTheSourceGives(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles Go programs")
	}
	program := filepath.Join(t.TempDir(), "build.exe") // built first: go run hides the exit code
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../sandbox/wasmhost/build").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "-check")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
