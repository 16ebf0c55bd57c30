package guard_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

func TestModuleDroppedInIsObeyedWithoutARestart(t *testing.T) {
	r := newRig(t)
	mustAllow(t, r.Check(t.Context(), step("x")))
	r.drop(t, r.project, "rule.wasm", guardtest.Reactor(guardtest.Deny))
	mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")
	if err := os.Remove(filepath.Join(r.project, "rule.wasm")); err != nil {
		t.Fatal(err)
	}
	mustAllow(t, r.Check(t.Context(), step("x")))
	if !strings.Contains(r.log.String(), "guard.gone") {
		t.Error("the removal is not in the log")
	}
}

func TestChangedFileDeniesUntilTrusted(t *testing.T) {
	r := newRig(t)
	path := r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Deny))
	mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")

	put(t, path, guardtest.Reactor(guardtest.Allow).Bytes())
	v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeChanged)
	if !strings.Contains(v.Verdict.Reason, "bir guard trust rule") {
		t.Errorf("the reason %q does not say what to do", v.Verdict.Reason)
	}
	if m := module(t, r.Host, "rule"); m.State != guard.StateChanged || m.SHA256 != v.SHA256 {
		t.Errorf("listed as %+v", m)
	}
	mustDeny(t, r.host(t).Check(t.Context(), step("x")), guard.CodeChanged) // in any process

	if err := r.Trust(t.Context(), "rule"); err != nil {
		t.Fatal(err)
	}
	mustAllow(t, r.Check(t.Context(), step("x")))
	mustAllow(t, r.host(t).Check(t.Context(), step("x")))
}

func TestTrustOfAnotherProcessIsSeen(t *testing.T) {
	r := newRig(t)
	path := r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Deny))
	mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")
	put(t, path, guardtest.Reactor(guardtest.Allow).Bytes())
	mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeChanged)
	if err := r.host(t).Trust(t.Context(), "rule"); err != nil {
		t.Fatal(err)
	}
	mustAllow(t, r.Check(t.Context(), step("x")))
}

func TestSettingsArePinnedWithTheModule(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Deny))
	mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")
	put(t, filepath.Join(r.home, "rule.json"), []byte(`{"kinds":["value"]}`)) // would no longer be asked
	mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeChanged)
	if err := r.Trust(t.Context(), "rule"); err != nil {
		t.Fatal(err)
	}
	mustAllow(t, r.Check(t.Context(), step("x")))
}

func TestFileThatComesBackChangedIsNotFirstSeen(t *testing.T) {
	r := newRig(t)
	path := r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Deny))
	mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	mustAllow(t, r.Check(t.Context(), step("x")))
	put(t, path, guardtest.Reactor(guardtest.Allow).Bytes())
	mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeChanged)
	if err := r.Forget("rule"); err != nil { // what `bir guard remove` does
		t.Fatal(err)
	}
	mustAllow(t, r.Check(t.Context(), step("x")))
}

func TestFileSeenHalfCopiedIsNotPinned(t *testing.T) {
	r := newRig(t)
	whole := guardtest.Reactor(guardtest.Deny).Bytes()
	path := put(t, filepath.Join(r.home, "rule.wasm"), whole[:len(whole)/2])
	mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
	put(t, path, whole)
	mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")
}

func TestTouchedFileIsStillTrusted(t *testing.T) {
	r := newRig(t)
	path := r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Allow))
	mustAllow(t, r.Check(t.Context(), step("x")))
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	mustAllow(t, r.Check(t.Context(), step("x")))
}

func TestDamagedPinsDeny(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Allow))
	put(t, r.pins, []byte("{"))
	v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
	if !strings.Contains(v.Verdict.Reason, r.pins) {
		t.Errorf("the reason %q does not name the file", v.Verdict.Reason)
	}
}

func TestPinFileIsForItsOwnerOnly(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Allow))
	mustAllow(t, r.Check(t.Context(), step("x")))
	info, err := os.Stat(r.pins)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %o", mode)
	}
}

func TestOrderIsHomeThenProjectByFileName(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.project, "a.wasm", guardtest.Reactor(guardtest.Allow))
	r.drop(t, r.home, "z.wasm", guardtest.Reactor(guardtest.Allow))
	r.drop(t, r.home, "b.wasm", guardtest.Reactor(guardtest.Allow))
	put(t, filepath.Join(r.home, ".part.wasm"), nil) // a copy under way
	put(t, filepath.Join(r.home, "notes.txt"), nil)
	var asked []string
	for _, v := range r.Check(t.Context(), step("x")).Verdicts {
		asked = append(asked, v.Module)
	}
	if diff := cmp.Diff([]string{"b", "z", "a"}, asked); diff != "" {
		t.Error(diff)
	}
}

// The home folder allows; that lifts nothing that the project denies, and the
// other way round.
func TestOneDenialIsEnough(t *testing.T) {
	for _, denying := range []string{"home", "project"} {
		t.Run(denying, func(t *testing.T) {
			r := newRig(t)
			verdicts := map[string]string{"home": guardtest.Allow, "project": guardtest.Allow}
			verdicts[denying] = guardtest.Deny
			r.drop(t, r.home, "h.wasm", guardtest.Reactor(verdicts["home"]))
			r.drop(t, r.project, "p.wasm", guardtest.Reactor(verdicts["project"]))
			mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")
		})
	}
}

func TestReactorIsAskedOnlyWhatItExports(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "pins.wasm", guardtest.Reactor(guardtest.Deny).Without("bir_step").Without("bir_value"))
	mustAllow(t, r.Check(t.Context(), step("x")))
	mustDeny(t, r.Check(t.Context(), guardsdk.Request{Kind: guardsdk.KindPin}), "test_denied")
	if diff := cmp.Diff([]guardsdk.Kind{guardsdk.KindPin}, module(t, r.Host, "pins").Kinds); diff != "" {
		t.Error(diff)
	}
}

func TestSettingsThatAskForTooMuchAreRefused(t *testing.T) {
	for settings, names := range map[string]string{
		`{"memoryMB":65}`:             "memoryMB",
		`{"timeoutMs":1001}`:          "timeoutMs",
		`{"kinds":["all"]}`:           "kinds",
		`{"network":true}`:            "network",
		`{"memoryMB":1,"memoryMB":2}`: "twice",
		`[]`:                          "allowed are",
		`{} {}`:                       "more than one",
	} {
		t.Run(settings, func(t *testing.T) {
			r := newRig(t)
			r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Allow))
			put(t, filepath.Join(r.home, "rule.json"), []byte(settings))
			v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
			if !strings.Contains(v.Verdict.Reason, names) {
				t.Errorf("the reason %q does not name %q", v.Verdict.Reason, names)
			}
		})
	}
}

func TestSettingsGiveMoreMemory(t *testing.T) {
	r := newRig(t)
	large := guardtest.Reactor(guardtest.Allow)
	large.MinPages = 20 << 20 / (64 << 10)
	r.drop(t, r.home, "rule.wasm", large)
	put(t, filepath.Join(r.home, "rule.json"), []byte(`{"memoryMB":32}`))
	mustAllow(t, r.Check(t.Context(), step("x")))
}

// settled is a module that starts with more memory than a module may have by default.
func settled(sections ...string) guardtest.Module {
	m := guardtest.Reactor(guardtest.Allow)
	m.MinPages = 20 << 20 / (64 << 10)
	for _, text := range sections {
		m.Custom = append(m.Custom, guardtest.Custom{Name: "other", Text: "\xff"}, guardtest.Custom{Name: "bir.guard", Text: text})
	}
	return m
}

func TestModuleCarriesItsOwnLimits(t *testing.T) {
	r := newRig(t)
	path := r.drop(t, r.home, "rule.wasm", settled(`{"memoryMB":32,"kinds":["step"],"config":{"a": 1}}`))
	mustAllow(t, r.Check(t.Context(), step("x")))
	if m := module(t, r.Host, "rule"); len(m.Kinds) != 1 || m.Kinds[0] != guardsdk.KindStep {
		t.Errorf("asked %v", m.Kinds)
	}

	// Its user has the last word, in the file beside it.
	put(t, strings.TrimSuffix(path, ".wasm")+".json", []byte(`{"memoryMB":1,"kinds":["pin"]}`))
	mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeChanged)
	if err := r.Trust(t.Context(), "rule"); err != nil {
		t.Fatal(err)
	}
	v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
	if !strings.Contains(v.Verdict.Reason, "20480 KiB") {
		t.Errorf("reason %q", v.Verdict.Reason)
	}
}

func TestLimitsInAModuleThatAreWrongAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		module guardtest.Module
		names  string
	}{
		"over the ceiling": {settled(`{"memoryMB":65}`), "memoryMB"},
		"not JSON":         {settled(`memoryMB: 32`), "bir.guard"},
		"unknown":          {settled(`{"network":true}`), "network"},
		"twice":            {settled(`{"memoryMB":32}`, `{"memoryMB":33}`), "twice"},
		"too long":         {settled(`{"config":"` + strings.Repeat("x", 64<<10) + `"}`), "KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.drop(t, r.home, "rule.wasm", c.module)
			v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
			if !strings.Contains(v.Verdict.Reason, c.names) {
				t.Errorf("the reason %q does not name %q", v.Verdict.Reason, c.names)
			}
		})
	}
}

// Two projects of one user: what one forbids does not reach the other, and its
// modules are pinned apart.
func TestProjectRestrictsOnlyItself(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.project, "rule.wasm", guardtest.Reactor(guardtest.Deny))
	other := *r
	other.project = filepath.Join(t.TempDir(), ".bir", "guards")
	if err := os.MkdirAll(other.project, 0o700); err != nil {
		t.Fatal(err)
	}
	other.drop(t, other.project, "rule.wasm", guardtest.Reactor(guardtest.Allow))
	mustDeny(t, r.Check(t.Context(), step("x")), "test_denied")
	mustAllow(t, other.host(t).Check(t.Context(), step("x")))
}

func TestClosedHostDenies(t *testing.T) {
	r := newRig(t)
	h := r.host(t)
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustDeny(t, h.Check(t.Context(), step("x")), guard.CodeNotReady)
}

func TestTrialNeedsNoInstalling(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "rule.wasm"), guardtest.Reactor(guardtest.Deny).Bytes())
	trial, err := guard.OpenTrial(t.Context(), guard.Config{CallTimeout: patience}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer trial.Close(t.Context())
	v, err := trial.Ask(t.Context(), step("x"))
	if err != nil || v.Verdict.Code != "test_denied" || v.Module != "rule" || v.Memory < 64<<10 {
		t.Errorf("got %+v, %v", v, err)
	}
	if _, err := guard.OpenTrial(t.Context(), guard.Config{}, path+".none"); err == nil {
		t.Error("a file that is not there was tried")
	}
}
