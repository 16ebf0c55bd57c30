//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/discover"
)

func TestTenStartsAtOnceMakeOneServer(t *testing.T) {
	p := newProject(t)
	begin := make(chan struct{})
	var mu sync.Mutex // guards files
	files := map[int]int{}
	var starting sync.WaitGroup
	for range 10 {
		starting.Go(func() {
			<-begin
			file, _, err := p.Ensure(t.Context())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			files[file.PID]++
			mu.Unlock()
		})
	}
	close(begin)
	starting.Wait()
	if len(files) != 1 || len(p.lines("open")) != 1 {
		t.Errorf("processes %v, opened by %v", files, p.lines("open"))
	}
}

func TestAServerOfTheSameOrAnUnorderedVersionStays(t *testing.T) {
	p := newProject(t)
	first := p.ensure(p.Starter, Started)
	for _, version := range []string{"v1.0.0", "v0.9.0", "dev", "abc1234"} {
		if file := p.ensure(p.as(version), Running); file.PID != first.PID {
			t.Errorf("%s: process %d, want %d", version, file.PID, first.PID)
		}
	}
}

func TestAServerThatIsToldToServeBesideAnotherEnds(t *testing.T) {
	p := newProject(t)
	p.ensure(p.Starter, Started)
	err := Run(t.Context(), Config{Home: p.Home, Root: p.Root, Version: "v0.1.0", Open: func(string) (Book, error) {
		t.Error("it opened the book")
		return nil, errors.New("no")
	}})
	if !errors.Is(err, ErrRunning) {
		t.Error(err)
	}
}

// TestAHandOverLosesNoHook replaces servers while hooks post, each over a connection of
// its own and one at a time as a host has them.
func TestAHandOverLosesNoHook(t *testing.T) {
	p := newProject(t)
	before := p.ensure(p.Starter, Started)
	ctx, stop := context.WithCancel(t.Context())
	var posting sync.WaitGroup
	posted := make([][]string, 4)
	for i := range posted {
		posting.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				payload := fmt.Sprintf("%d-%d", i, n)
				if answer, err := p.hook(payload, false); err != nil || answer != payload {
					t.Errorf("%s was answered %q, %v", payload, answer, err)
					return
				}
				posted[i] = append(posted[i], payload)
			}
		})
	}
	for minor := 1; minor <= 4; minor++ {
		file := p.ensure(p.as(fmt.Sprintf("v1.%d.0", minor)), Replaced)
		if file.URL != before.URL || file.Token != before.Token || file.Socket != before.Socket || file.PID == before.PID {
			t.Errorf("handed over from %+v to %+v", before, file)
		}
		before = file
	}
	stop()
	posting.Wait()
	got, want := p.lines("event"), slices.Concat(posted...)
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%d events posted: %s", len(want), diff)
	}
	p.oneBookAtATime(5)
}

// oneBookAtATime holds that each book was closed before the next was opened, all with
// one key.
func (p *project) oneBookAtATime(n int) {
	p.Helper()
	text, err := os.ReadFile(discover.Journal(p.Home, p.Root))
	if err != nil {
		p.Fatal(err)
	}
	open, opened, keys := "", 0, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		switch f := strings.Fields(line); f[0] {
		case "open":
			if open != "" {
				p.Errorf("opened by %s while %s had it", f[1], open)
			}
			open = f[1]
			opened++
			keys[f[2]] = true
		case "close":
			open = ""
		}
	}
	if opened != n || len(keys) != 1 {
		p.Errorf("opened %d times with %d keys, want %d with 1", opened, len(keys), n)
	}
}

func TestAServerIsReplacedOnDemandWhateverItsVersion(t *testing.T) {
	p := newProject(t)
	first := p.ensure(p.Starter, Started)
	again := p.Starter
	again.Replace = true
	if file := p.ensure(again, Replaced); file.PID == first.PID || file.Token != first.Token {
		t.Errorf("replaced %+v by %+v", first, file)
	}
	p.oneBookAtATime(2)
}

func TestAfterACrashAServerIsStartedAnewWithTheKeyAndAnotherToken(t *testing.T) {
	p := newProject(t)
	dead := p.ensure(p.Starter, Started)
	before, err := discover.Read(p.Home, p.Root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.hook("die", false); err == nil {
		t.Error("a dead server answered")
	}
	file := p.ensure(p.Starter, Started)
	after, err := discover.Read(p.Home, p.Root)
	if err != nil {
		t.Fatal(err)
	}
	if file.PID == dead.PID || file.Token == dead.Token || after.FingerprintKey != before.FingerprintKey {
		t.Errorf("after %+v came %+v", before, after)
	}
	if answer, err := p.hook("alive", false); err != nil || answer != "alive" {
		t.Errorf("answered %q, %v", answer, err)
	}
}

func TestTheAddressStaysTheSameOverTCP(t *testing.T) {
	p := newProject(t)
	first := p.ensure(p.Starter, Started)
	if _, err := p.hook("die", true); err == nil {
		t.Error("a dead server answered")
	}
	if file := p.ensure(p.Starter, Started); file.URL != first.URL {
		t.Skipf("another program has %s by now", first.URL)
	}
	if answer, err := p.hook("alive", true); err != nil || answer != "alive" {
		t.Errorf("answered %q, %v", answer, err)
	}
}

func TestAStoppedServerStaysStoppedUntilItsUserSaysSo(t *testing.T) {
	p := newProject(t)
	p.ensure(p.Starter, Started)
	if stopped, err := Stop(t.Context(), p.Home, p.Root, true); !stopped || err != nil {
		t.Fatalf("%v, %v", stopped, err)
	}
	if diff := cmp.Diff([]string{".journal", ".lock", ".start.lock", ".stopped"}, p.left()); diff != "" {
		t.Error(diff)
	}
	if stopped, err := Stop(t.Context(), p.Home, p.Root, true); stopped || err != nil {
		t.Errorf("a second time: %v, %v", stopped, err)
	}
	if _, _, err := p.Ensure(t.Context()); !errors.Is(err, ErrStopped) {
		t.Error(err)
	}
	revived := p.Starter
	revived.Revive = true
	p.ensure(revived, Started)
	if locate.Stopped(p.Home, p.Root) {
		t.Error("the mark stays")
	}
	p.oneBookAtATimeOrKeys()
}

// oneBookAtATimeOrKeys holds that a server that was stopped in order closed its book.
func (p *project) oneBookAtATimeOrKeys() {
	p.Helper()
	if opened, closed := p.lines("open"), p.lines("close"); len(opened) != 2 || len(closed) != 1 {
		p.Errorf("opened %v, closed %v", opened, closed)
	}
}

func TestAServerThatCannotStartIsReportedAtOnce(t *testing.T) {
	p := newProject(t)
	s := p.Starter
	s.Environ = append(slices.Clone(s.Environ), failEnv+"=1")
	_, _, err := s.Ensure(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), discover.LogPath(p.Home, p.Root)) {
		t.Fatal(err)
	}
	log, err := os.ReadFile(discover.LogPath(p.Home, p.Root))
	if err != nil || !strings.Contains(string(log), "the disk is full") {
		t.Errorf("the log says %q, %v", log, err)
	}
}

func TestAFileThatCannotBeTrustedStopsTheStart(t *testing.T) {
	p := newProject(t)
	p.ensure(p.Starter, Started)
	path := locate.Path(p.Home, p.Root)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Ensure(t.Context()); !errors.Is(err, locate.ErrExposed) {
		t.Error(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAServerThatHangsIsNotTakenForADeadOne(t *testing.T) {
	p := newProject(t)
	file := p.ensure(p.Starter, Started)
	if err := syscall.Kill(file.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var now syscall.WaitStatus // it may answer until all its threads have heard of it
	if _, err := syscall.Wait4(file.PID, &now, syscall.WUNTRACED, nil); err != nil || !now.Stopped() {
		t.Fatalf("%v, %v", now, err)
	}
	stopped, err := Stop(t.Context(), p.Home, p.Root, false)
	if stopped || !errors.Is(err, ErrRunning) || !strings.Contains(err.Error(), fmt.Sprint(file.PID)) {
		t.Errorf("%v, %v", stopped, err)
	}
	if err := syscall.Kill(file.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
