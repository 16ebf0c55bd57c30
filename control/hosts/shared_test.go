package hosts_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
	"github.com/bir-run/bir/control/hosts/journal"
)

// TestManyProjectsShareTheClientsFile installs and uninstalls many projects at once:
// all of them change one file.
func TestManyProjectsShareTheClientsFile(t *testing.T) {
	const before = "{\n  \"projects\": {\n    \"/mine\": {\n      \"n\": 1.0\n    }\n  }\n}\n"
	l := newLab(t, before)
	at := func(i int) string { return fmt.Sprintf("/p%d", i) }
	all := func(do func(in hosts.Installer, root string) error) {
		var each sync.WaitGroup
		start := make(chan struct{})
		for i := range 8 {
			each.Go(func() { // ends when its command is done
				<-start
				if err := do(l.in, at(i)); err != nil {
					t.Errorf("%s: %v", at(i), err)
				}
			})
		}
		close(start)
		each.Wait()
	}
	all(func(in hosts.Installer, root string) error {
		op := hosts.Op{Kind: journal.Put, Path: []string{"projects", root, "mcpServers", "s"}, Server: "s",
			Value: json.RawMessage(`{"command":"/b/bir-proxy","args":["--server-name","s","--","srv"]}`)}
		_, err := in.Install(root, "", []hosts.Change{{Host: claude.Name, File: l.file, Format: hosts.JSON, Shape: &claude.Shape, Shared: true, Ops: []hosts.Op{op}}})
		return err
	})
	if n := strings.Count(l.read(), "bir-proxy"); n != 8 {
		t.Errorf("%d are installed", n)
	}
	all(func(in hosts.Installer, root string) error {
		_, err := in.Uninstall(root, "")
		return err
	})
	if diff := cmp.Diff(before, l.read()); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutAReadableJournalNothingIsWritten(t *testing.T) {
	for _, text := range []string{`{`, `{"version":2}`} {
		l := newLab(t, config)
		if err := os.MkdirAll(l.in.Home, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(journal.Path(l.in.Home), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := l.in.Install(root, "", l.change(wrapOp("fs"))); err == nil || l.read() != config || l.journal() != text {
			t.Errorf("%s: %v", text, err)
		}
	}
}
