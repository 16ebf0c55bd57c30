package hosts_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
)

func TestHooksOverHTTPFollowTheControlServer(t *testing.T) {
	const before = "{\n  \"env\": {\"NO_PROXY\": \"corp.example\"},\n  \"hooks\": {}\n}\n"
	l := newLab(t, before)
	places := hosts.Places{Home: t.TempDir(), Root: root, Lookup: func(string) string { return "" }}
	h := claude.Hooks{Binary: "/b/bir-hooks", Scope: "local", URL: "http://127.0.0.1:5", Token: "hush1"}
	c, err := h.Change(places)
	if err != nil {
		t.Fatal(err)
	}
	c.File = l.file
	if _, err := l.in.Install(root, hosts.HTTPHooks, []hosts.Change{c}); err != nil {
		t.Fatal(err)
	}
	first := l.read()
	if err := l.in.Refresh(root, "http://127.0.0.1:5", "hush1"); err != nil || l.read() != first {
		t.Errorf("the same address changed something: %v\n%s", err, cmp.Diff(first, l.read()))
	}
	if err := l.in.Refresh(root, "http://127.0.0.1:77", "hush2"); err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("127.0.0.1:5/", "127.0.0.1:77/", `"hush1"`, `"hush2"`).Replace(first)
	if diff := cmp.Diff(want, l.read()); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(l.journal(), "hush2") {
		t.Error("the journal has the token")
	}
	l.uninstall()
	if diff := cmp.Diff(before, l.read()); diff != "" {
		t.Error(diff)
	}
}

func TestOtherHooksNeedNoAddress(t *testing.T) {
	l := newLab(t, `{}`)
	if err := l.in.Refresh(root, "http://127.0.0.1:5", "hush1"); err != nil {
		t.Error(err)
	}
	if _, err := l.in.Install(root, "command", l.change(hookOp("Stop"))); err != nil {
		t.Fatal(err)
	}
	before := l.read()
	if err := l.in.Refresh(root, "http://127.0.0.1:5", "hush1"); err != nil || l.read() != before {
		t.Errorf("%v %s", err, l.read())
	}
}
