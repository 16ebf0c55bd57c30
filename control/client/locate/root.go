package locate

import (
	"os"
	"path/filepath"
	"strings"
)

// maxPointerBytes bounds what is read of the small files by which git says where
// things are.
const maxPointerBytes = 64 << 10

// Root is the project that a working folder belongs to: the main working tree of its
// git repository, also from a linked worktree or a folder below, and without git the
// folder itself. A submodule is a project of its own, and the worktrees of a bare
// repository have that in common. This is how the client keys its own configuration,
// odd cases included: the tests list what it was seen to do.
func Root(cwd string) string {
	dir := realPath(cwd)
	for at := dir; ; {
		info, err := os.Stat(filepath.Join(at, ".git"))
		switch {
		case err == nil && info.IsDir():
			return here(at)
		case err == nil && info.Mode().IsRegular():
			return here(mainTree(at))
		}
		up := filepath.Dir(at)
		if up == at {
			return here(dir)
		}
		at = up
	}
}

// realPath is a folder's path without symbolic links; of a folder that is gone, the
// path as it was given.
func realPath(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		return resolved
	}
	return dir
}

// mainTree follows the .git file of a linked worktree to the main one. Whatever does
// not look like a worktree that git made leaves the tree to itself: a .git file comes
// with a clone, and one that points at another project must not move a session there.
// So git's own note of where the worktree is must point back.
func mainTree(tree string) string {
	link := filepath.Join(tree, ".git")
	gitDir, ok := strings.CutPrefix(firstLine(link), "gitdir:")
	if !ok {
		return tree
	}
	gitDir = below(tree, strings.TrimSpace(gitDir))
	if onShare(gitDir) && !onShare(tree) { // looking there would tell a stranger who we are
		return tree
	}
	pointer := firstLine(filepath.Join(gitDir, "commondir")) // a submodule has none
	if pointer == "" {
		return tree
	}
	common := realPath(below(gitDir, pointer))
	if realPath(filepath.Dir(gitDir)) != filepath.Join(common, "worktrees") {
		return tree
	}
	back := firstLine(filepath.Join(gitDir, "gitdir"))
	if back == "" || realPath(below(gitDir, back)) != realPath(link) {
		return tree
	}
	if filepath.Base(common) != ".git" { // bare, or kept apart from its working tree
		return common
	}
	return filepath.Dir(common)
}

// below resolves a path that may be relative to dir.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// onShare says whether a path is on another machine, by Windows' way to write it.
func onShare(path string) bool { return strings.HasPrefix(filepath.VolumeName(path), `\\`) }

// firstLine is a small file's first line, and nothing of a file that cannot be read.
func firstLine(path string) string {
	text, err := readSmall(path, maxPointerBytes)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimRight(line, "\r")
}
