package guard_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guards/examples"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

func TestHandWrittenExampleForbidsARegion(t *testing.T) {
	r := newRig(t)
	code, err := fs.ReadFile(examples.Files(), examples.Module)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(r.project, "region.wasm"), code)
	forbidsUsEast(t, r)
}

func TestHandWrittenExampleIsWhatItsSourceSays(t *testing.T) {
	wat2wasm, err := exec.LookPath("wat2wasm")
	if err != nil {
		t.Skip("no wat2wasm on this machine")
	}
	out := filepath.Join(t.TempDir(), "out.wasm")
	source := "../../sandbox/guards/examples/wat/deny-us-east"
	if text, err := exec.Command(wat2wasm, source+".wat", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(source + ".wasm")
	if err != nil || !bytes.Equal(have, want) {
		t.Errorf("the committed module is not what its source gives (%v)", err)
	}
}

func TestGoReactorExampleForbidsARegion(t *testing.T) {
	r := newRig(t)
	buildExample(t, "region", filepath.Join(r.project, "region.wasm"), "-buildmode=c-shared")
	mustDeny(t, r.Check(t.Context(), step("/data/eu-west")), "region_settings")
	put(t, filepath.Join(r.project, "region.json"), []byte(`{"config":{"deny":["us-east"]}}`))
	mustDeny(t, r.Check(t.Context(), step("/data/eu-west")), guard.CodeChanged)
	if err := r.Trust(t.Context(), "region"); err != nil {
		t.Fatal(err)
	}
	forbidsUsEast(t, r)
}

func TestGoCommandExampleForbidsARegion(t *testing.T) {
	r := newRig(t)
	buildExample(t, "command", filepath.Join(r.project, "region.wasm"))
	forbidsUsEast(t, r)
}

func forbidsUsEast(t *testing.T, r *rig) {
	t.Helper()
	if err := r.Load(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	value := func(v string) guardsdk.Request {
		return guardsdk.Request{Kind: guardsdk.KindValue, Parameter: "region",
			Value: []byte(`"` + v + `"`), Sample: []byte(`"eu-west"`), Plan: guardsdk.Plan{Risk: guardsdk.RiskNone}}
	}
	mustAllow(t, r.Check(t.Context(), step("/data/eu-west/devices.json")))
	mustAllow(t, r.Check(t.Context(), step("us-eas")))
	mustAllow(t, r.Check(t.Context(), value("eu-north")))
	mustDeny(t, r.Check(t.Context(), step("/data/us-east/devices.json")), "region_denied")
	mustDeny(t, r.Check(t.Context(), value("us-east")), "region_denied")
	escaped := step("")
	escaped.Args = []byte(`{"path":"/data/\u0075s-east"}`)
	mustDeny(t, r.Check(t.Context(), escaped), "region_denied")
}

func buildExample(t *testing.T, name, out string, flags ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a Go program")
	}
	args := append(append([]string{"build", "-o", out}, flags...), "./"+name)
	cmd := exec.Command("go", args...)
	cmd.Dir = "../../sandbox/guards/examples"
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
