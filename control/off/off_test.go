package off

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

func TestSwitchIsOnUntilItIsThrown(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(t.TempDir(), "project")
	check := func(what, dir string, want bool) {
		t.Helper()
		s, err := Read(home)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Off(dir); got != want {
			t.Errorf("%s: off in %s = %v, want %v", what, dir, got, want)
		}
	}
	set := func(dir string, turnedOff bool) {
		t.Helper()
		if _, err := Set(home, dir, turnedOff); err != nil {
			t.Fatal(err)
		}
	}
	check("at first", project, false)
	set(project, true)
	check("off here", project, true)
	check("off here, below", filepath.Join(project, "sub"), true)
	check("off here, beside", project+"-two", false)
	check("off here, above", filepath.Dir(project), false)
	set(project, false)
	check("on here", project, false)
	set("", true)
	check("off everywhere", project, true)
	set(project, false)
	check("on here does not beat off everywhere", project, true)
	set("", false)
	check("on everywhere", project, false)
}

func TestDamagedSwitchIsNotThrown(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(Path(home), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Read(home)
	if err == nil || s.Off("/") {
		t.Errorf("state %+v, err %v", s, err)
	}
	w := Watch{Home: home, Dir: "/"}
	if w.Off(time.Now()) {
		t.Error("a damaged switch turned bir off")
	}
}

func TestWatchSeesAChangeWithinASecond(t *testing.T) {
	home, start := t.TempDir(), time.Now()
	w := Watch{Home: home, Dir: home}
	if w.Off(start) {
		t.Fatal("off at first")
	}
	if _, err := Set(home, "", true); err != nil {
		t.Fatal(err)
	}
	if w.Off(start.Add(100 * time.Millisecond)) {
		t.Error("it looked again at once")
	}
	if !w.Off(start.Add(time.Second)) {
		t.Error("still on a second later")
	}
}

func TestManyThrowItAtOnceAndNoneIsLost(t *testing.T) {
	home := t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if _, err := Set(home, filepath.Join(home, string(rune('a'+i))), true); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s, err := Read(home)
	if err != nil || len(s.Folders) != 16 {
		t.Errorf("%d folders, err %v", len(s.Folders), err)
	}
}
