package locate

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// git runs the real program, since the files that it writes are what is read here.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") }),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func folder(t *testing.T, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	folder(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// scratch is a folder whose own path holds no link and lies in no repository.
func scratch(t *testing.T) string {
	t.Helper()
	return realPath(t.TempDir())
}

func wantRoot(t *testing.T, what, cwd, want string) {
	t.Helper()
	if got := Root(cwd); got != here(want) {
		t.Errorf("%s: root of %s is %s, want %s", what, cwd, got, want)
	}
}

// repository is one with a commit, as a worktree needs.
func repository(t *testing.T, dir string) string {
	t.Helper()
	folder(t, dir)
	git(t, dir, "init", "-q")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "one")
	return dir
}

func TestRootIsTheMainWorkingTree(t *testing.T) {
	base := scratch(t)
	repo := repository(t, filepath.Join(base, "repo"))
	git(t, repo, "worktree", "add", "-q", filepath.Join(base, "linked"))
	git(t, repo, "worktree", "add", "-q", filepath.Join(repo, "inside", "other"))
	wantRoot(t, "the tree itself", repo, repo)
	wantRoot(t, "a folder below", folder(t, repo, "a", "b"), repo)
	wantRoot(t, "a linked worktree", filepath.Join(base, "linked"), repo)
	wantRoot(t, "below a linked worktree", folder(t, base, "linked", "c"), repo)
	wantRoot(t, "a linked worktree inside", filepath.Join(repo, "inside", "other"), repo)
	wantRoot(t, "beside", folder(t, base, "beside"), filepath.Join(base, "beside"))
}

func TestSubmoduleIsItsOwnRoot(t *testing.T) {
	base := scratch(t)
	part := repository(t, filepath.Join(base, "part"))
	whole := repository(t, filepath.Join(base, "whole"))
	sub := filepath.Join(whole, "sub")
	git(t, whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", part, "sub")
	git(t, sub, "worktree", "add", "-q", filepath.Join(base, "linked"))
	wantRoot(t, "a submodule", sub, sub)
	wantRoot(t, "what holds it", whole, whole)
	wantRoot(t, "a submodule's linked worktree", filepath.Join(base, "linked"), filepath.Join(whole, ".git", "modules", "sub"))
}

func TestWorktreesOfABareRepositoryShareIt(t *testing.T) {
	base := scratch(t)
	repo := repository(t, filepath.Join(base, "repo"))
	bare := filepath.Join(base, "bare.git")
	git(t, base, "clone", "-q", "--bare", repo, bare)
	git(t, bare, "worktree", "add", "-q", filepath.Join(base, "tree"))
	wantRoot(t, "a worktree", filepath.Join(base, "tree"), bare)
	wantRoot(t, "the bare repository", bare, bare)

	hidden := folder(t, base, "hidden")
	git(t, base, "clone", "-q", "--bare", repo, filepath.Join(hidden, ".git"))
	git(t, filepath.Join(hidden, ".git"), "worktree", "add", "-q", filepath.Join(hidden, "tree"))
	wantRoot(t, "a worktree beside a bare .git", filepath.Join(hidden, "tree"), hidden)
}

func TestRepositoryApartFromItsTree(t *testing.T) {
	base := scratch(t)
	tree, apart := folder(t, base, "tree"), filepath.Join(base, "apart.git")
	git(t, tree, "init", "-q", "--separate-git-dir="+apart)
	git(t, tree, "commit", "-q", "--allow-empty", "-m", "one")
	git(t, tree, "worktree", "add", "-q", filepath.Join(base, "linked"))
	wantRoot(t, "the tree", tree, tree)
	wantRoot(t, "a linked worktree", filepath.Join(base, "linked"), apart)
}

func TestGitFolderNeedNotBeARepository(t *testing.T) {
	base := scratch(t)
	folder(t, base, "empty", ".git")
	wantRoot(t, "below an empty .git", folder(t, base, "empty", "below"), filepath.Join(base, "empty"))
	repo := repository(t, filepath.Join(base, "repo"))
	wantRoot(t, "inside .git", filepath.Join(repo, ".git", "refs"), repo)
}

func TestRootIsARealPath(t *testing.T) {
	base := scratch(t)
	repo := repository(t, filepath.Join(base, "repo"))
	sub := folder(t, repo, "sub")
	link := filepath.Join(base, "link")
	if err := os.Symlink(sub, link); err != nil {
		t.Skip("no symbolic links here")
	}
	wantRoot(t, "a link into a repository", link, repo)
	wantRoot(t, "a folder that is gone", filepath.Join(base, "gone"), filepath.Join(base, "gone"))
}

// TestHostileGitFileMovesNoSession: a .git file comes with a clone, so it may not say
// that the clone belongs to another project.
func TestHostileGitFileMovesNoSession(t *testing.T) {
	base := scratch(t)
	victim := repository(t, filepath.Join(base, "victim"))
	git(t, victim, "worktree", "add", "-q", filepath.Join(base, "linked"))
	theirs := filepath.Join(victim, ".git", "worktrees", "linked")
	fake := filepath.Join(base, "fake-worktrees", "x")
	write(t, filepath.Join(fake, "commondir"), filepath.Join(victim, ".git"))
	write(t, filepath.Join(fake, "gitdir"), filepath.Join(base, "own-folder", ".git"))
	for name, text := range map[string]string{
		"another's worktree":  "gitdir: " + theirs + "\n",
		"another's .git":      "gitdir: " + filepath.Join(victim, ".git") + "\n",
		"own-folder":          "gitdir: " + fake + "\n",
		"nowhere":             "gitdir: /nowhere/at/all\n",
		"empty":               "",
		"no pointer":          "hello\n",
		"a pointer to itself": "gitdir: .git\n",
	} {
		clone := folder(t, base, name)
		write(t, filepath.Join(clone, ".git"), text)
		wantRoot(t, name, folder(t, clone, "below"), clone)
	}
}
