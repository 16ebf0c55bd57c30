package atomicfile

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

func TestAReaderSeesOneTextOrTheOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.json")
	texts := [][]byte{bytes.Repeat([]byte("a"), 1<<16), bytes.Repeat([]byte("b"), 1<<16)}
	if err := Write(path, texts[0]); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 20 {
				if err := Write(path, text); err != nil && runtime.GOOS != "windows" { // where a reader may keep it
					t.Error(err)
				}
			}
		})
	}
	for range 100 {
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, texts[0]) && !bytes.Equal(got, texts[1]) {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	}
	writers.Wait()
}

func TestItIsItsOwnersOnlyAndNothingIsLeftBeside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := Write(dir, []byte("new")); err == nil {
		t.Error("a folder was replaced")
	}
	for _, folder := range []string{dir, filepath.Dir(dir)} {
		if left, err := filepath.Glob(filepath.Join(folder, "*.*.*")); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	}
	if err := Write(filepath.Join(dir, "none", "a.json"), nil); err == nil {
		t.Error("a folder was made")
	}
}
