package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bir-run/bir/control/hosts/journal"
)

// HTTPHooks is the kind of hooks that name the control server's address.
const HTTPHooks = "http"

// Refresh tells hooks over HTTP where the control server is now, and its new token. The
// control server calls it when it serves; a project with other hooks changes nothing.
// A client reads its settings again while it runs, so its next event finds the way.
func (in Installer) Refresh(root, url, token string) error {
	unlock, err := journal.Lock(in.Home) // or an uninstall of this moment would be undone
	if err != nil {
		return err
	}
	defer unlock()
	j, err := in.settled()
	if err != nil {
		return err
	}
	project := j.Projects[root]
	if project == nil || project.Hooks != HTTPHooks {
		return nil
	}
	for _, f := range slices.Clone(project.Files) {
		c, ok := refreshed(f, url, token)
		if !ok {
			continue
		}
		if _, err := in.change(j, root, HTTPHooks, c); err != nil {
			return fmt.Errorf("tell the hooks where the control server is: %w", err)
		}
	}
	return nil
}

// refreshed is the change that was made to a file, with another address and token.
func refreshed(f *journal.File, url, token string) (Change, bool) {
	c := Change{Host: f.Host, File: f.Path, Format: f.Format, Shape: f.Shape, Shared: f.Shared}
	hooks := false
	for _, old := range f.Changes {
		op := Op{Kind: old.Kind, Path: old.Path, Value: old.Value}
		switch {
		case old.Server != "":
			continue
		case old.Sum != "":
			op.Value, op.Secret = json.RawMessage(`"`+token+`"`), true // hexadecimal
		case old.Kind == journal.Add:
			op.Value = readdressed(old.Value, url)
			hooks = true
		}
		c.Ops = append(c.Ops, op)
	}
	return c, hooks
}

// readdressed puts another address before the path that a hook is posted to.
func readdressed(value json.RawMessage, url string) json.RawMessage {
	const start = `"url":"http://127.0.0.1:`
	var text bytes.Buffer
	if err := json.Compact(&text, value); err != nil {
		return value
	}
	before, rest, ok := strings.Cut(text.String(), start)
	slash := strings.IndexByte(rest, '/')
	if !ok || slash < 0 {
		return value // a command
	}
	return json.RawMessage(before + `"url":"` + url + rest[slash:])
}
