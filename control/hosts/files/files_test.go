package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestLockIsTheClientsFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	unlock := Lock(path)
	if _, err := os.Stat(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Stat(path + ".lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still locked: %v", err)
	}
}

func TestLockThatWasLeftOverIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	if err := os.Mkdir(path+".lock", 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path+".lock", old, old); err != nil {
		t.Fatal(err)
	}
	unlock := Lock(path)
	info, err := os.Stat(path + ".lock")
	if err != nil || time.Since(info.ModTime()) > 30*time.Second {
		t.Errorf("it is not ours: %v", err)
	}
	unlock()
}

func TestFolderThatCannotBeLockedIsNotWaitedFor(t *testing.T) {
	Lock(filepath.Join(t.TempDir(), "nothing", "a.json"))()
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := Read(dir); err == nil {
		t.Error("a folder was read")
	}
	if err := os.Symlink(filepath.Join(dir, "nothing"), filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	if _, err := Read(filepath.Join(dir, "link")); err == nil {
		t.Error("a link to nothing was read")
	}
}

func TestNewFileIsItsUsersAlone(t *testing.T) {
	f, err := Read(filepath.Join(t.TempDir(), "new", "a.json"))
	if err != nil || f.Exists {
		t.Fatalf("%+v, %v", f, err)
	}
	if err := f.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(f.Path)
	if err != nil || info.Mode().Perm() != Private {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	entries, err := os.ReadDir(filepath.Dir(f.Path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are there, %v", len(entries), err)
	}
}
