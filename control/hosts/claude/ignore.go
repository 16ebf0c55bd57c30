package claude

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/journal"
)

// localSettings is the user's own settings file in a project, as git spells it.
const localSettings = ".claude/settings.local.json"

// Ignore is what keeps the user's own settings file out of git's status: the client
// reads that to the model, which must be sent the same bytes with bir as without. It
// says false where there is nothing to do: no repository, no git, or a file that is
// tracked or ignored already. The list is the repository's own, which is not shared.
func Ignore(ctx context.Context, p hosts.Places) (hosts.Change, bool) {
	list, ok := git(ctx, p.Root, "rev-parse", "--git-path", "info/exclude")
	if !ok {
		return hosts.Change{}, false
	}
	if _, ignored := git(ctx, p.Root, "check-ignore", "--quiet", "--", localSettings); ignored {
		return hosts.Change{}, false
	}
	if _, tracked := git(ctx, p.Root, "ls-files", "--error-unmatch", "--", localSettings); tracked {
		return hosts.Change{}, false
	}
	within, ok := git(ctx, p.Root, "rev-parse", "--show-prefix")
	if !ok {
		return hosts.Change{}, false
	}
	if list = filepath.FromSlash(list); !filepath.IsAbs(list) {
		list = filepath.Join(p.Root, list)
	}
	line := "/" + literal.Replace(within) + localSettings
	value, err := json.Marshal(line)
	if err != nil {
		return hosts.Change{}, false // a path that is no text
	}
	op := hosts.Op{Kind: journal.Add, Path: []string{line}, Value: value}
	return hosts.Change{Host: Name, File: list, Format: hosts.Lines, Ops: []hosts.Op{op}}, true
}

// literal spells a path as a pattern that matches nothing else.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// git asks git something about a folder. A failure is an answer, too.
func git(ctx context.Context, dir string, args ...string) (string, bool) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...).Output()
	return strings.TrimRight(string(out), "\r\n"), err == nil
}
