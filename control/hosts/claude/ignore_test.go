package claude

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bir-run/bir/control/hosts"
)

// repository makes a git repository, without what the machine's user ignores anyway.
func repository(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	root := t.TempDir()
	ask(t, root, "init", "--quiet")
	return root
}

func ask(t *testing.T, root string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return string(out)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheSettingsFileIsKeptOutOfGitsStatusAndGivenBack(t *testing.T) {
	root := repository(t)
	list := filepath.Join(root, ".git", "info", "exclude")
	for name, before := range map[string]string{"as git makes it": "# a comment\n", "without an end": "*.log", "empty": "", "of Windows": "*.log\r\n"} {
		t.Run(name, func(t *testing.T) {
			write(t, list, before)
			for _, dir := range []string{root, filepath.Join(root, "vans [old]")} {
				write(t, filepath.Join(dir, localSettings), "{}")
				in := hosts.Installer{Home: t.TempDir()}
				c, ok := Ignore(t.Context(), hosts.Places{Root: dir})
				if !ok || c.File != list {
					t.Fatalf("%v, %s", ok, c.File)
				}
				if _, err := in.Install(dir, "", []hosts.Change{c}); err != nil {
					t.Fatal(err)
				}
				if out := ask(t, dir, "status", "--porcelain", "--", "."); out != "" {
					t.Errorf("git says %s", out)
				}
				if _, again := Ignore(t.Context(), hosts.Places{Root: dir}); again {
					t.Error("a second install would change it again")
				}
				if _, err := in.Uninstall(dir, ""); err != nil {
					t.Fatal(err)
				}
				if after, err := os.ReadFile(list); err != nil || string(after) != before {
					t.Errorf("%v: %q is left of %q", err, after, before)
				}
				if err := os.RemoveAll(filepath.Join(dir, ".claude")); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestALineThatOthersWroteBesideStays(t *testing.T) {
	root := repository(t)
	list := filepath.Join(root, ".git", "info", "exclude")
	write(t, list, "*.log\n")
	in := hosts.Installer{Home: t.TempDir()}
	c, _ := Ignore(t.Context(), hosts.Places{Root: root})
	if _, err := in.Install(root, "", []hosts.Change{c}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	write(t, list, string(text)+"*.tmp\n")
	if _, err := in.Uninstall(root, ""); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(list); err != nil || string(after) != "*.log\n*.tmp\n" {
		t.Errorf("%v: %q", err, after)
	}
}

func TestAListThatWasNotThereIsTakenAway(t *testing.T) {
	root := repository(t)
	list := filepath.Join(root, ".git", "info", "exclude")
	if err := os.RemoveAll(filepath.Dir(list)); err != nil {
		t.Fatal(err)
	}
	in := hosts.Installer{Home: t.TempDir()}
	c, ok := Ignore(t.Context(), hosts.Places{Root: root})
	if !ok {
		t.Fatal("nothing to do")
	}
	if _, err := in.Install(root, "", []hosts.Change{c}); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Uninstall(root, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(list)); !os.IsNotExist(err) {
		t.Errorf("the list is left: %v", err)
	}
}

func TestAFileThatGitKnowsIsLeftToGit(t *testing.T) {
	root := repository(t)
	if _, ok := Ignore(t.Context(), hosts.Places{Root: t.TempDir()}); ok {
		t.Error("a list outside of any repository")
	}
	write(t, filepath.Join(root, localSettings), "{}")
	ask(t, root, "add", "--force", localSettings)
	if _, ok := Ignore(t.Context(), hosts.Places{Root: root}); ok {
		t.Error("a tracked file is to be ignored")
	}
	ask(t, root, "rm", "--cached", "--quiet", localSettings)
	write(t, filepath.Join(root, ".gitignore"), ".claude/\n")
	if _, ok := Ignore(t.Context(), hosts.Places{Root: root}); ok {
		t.Error("an ignored file is to be ignored again")
	}
}
