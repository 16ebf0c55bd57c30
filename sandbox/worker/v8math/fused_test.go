package v8math

import (
	"os"
	"os/exec"
	"regexp"
	"testing"
)

// TestNothingIsFused reads the machine code for processors that have a fused
// multiplication and addition, which would round once where the others round twice.
func TestNothingIsFused(t *testing.T) {
	fused := regexp.MustCompile(`(?m)^.*\b(V?FN?M(ADD|SUB)[A-Z0-9]*)\b.*$`)
	for _, processor := range [][]string{{"GOARCH=arm64"}, {"GOARCH=amd64", "GOAMD64=v3"}} {
		build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-S", "-o", os.DevNull, ".")
		build.Env = append(os.Environ(), append(processor, "CGO_ENABLED=0")...)
		code, err := build.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", processor, err, code)
		}
		if len(code) < 1<<16 {
			t.Errorf("%v: only %d bytes of code", processor, len(code))
		}
		if line := fused.Find(code); line != nil {
			t.Errorf("%v: %s", processor, line)
		}
	}
}
