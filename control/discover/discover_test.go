package discover

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bir-run/bir/control/client/locate"
)

func newHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if err := MakeDir(home); err != nil {
		t.Fatal(err)
	}
	return home
}

func file(root string, pid int) File {
	return File{File: locate.File{URL: "http://127.0.0.1:4812", Token: "t", PID: pid, Version: "1.2.3", Root: root, StartedAt: 5}, FingerprintKey: "k"}
}

func TestWhatIsWrittenIsFoundByThoseWhoLook(t *testing.T) {
	home := newHome(t)
	want := file("/p", 7)
	if err := Write(home, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(home, "/p")
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	found, err := locate.Read(home, "/p")
	if diff := cmp.Diff(want.File, found); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if info, err := os.Stat(locate.Path(home, "/p")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(locate.Dir(home), "*")); len(left) != 1 {
		t.Errorf("files %v", left)
	}
}

func TestAFileThatOthersCouldReadIsNotUsed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file's mode says nothing there")
	}
	home := newHome(t)
	if err := Write(home, file("/p", 7)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(locate.Path(home, "/p"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(home, "/p"); !errors.Is(err, locate.ErrExposed) {
		t.Error(err)
	}
}

func TestOnlyOnesOwnFileIsRemoved(t *testing.T) {
	home := newHome(t)
	if err := Remove(home, "/p", 7); err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := Write(home, file("/p", 8)); err != nil {
		t.Fatal(err)
	}
	if err := Remove(home, "/p", 7); err != nil {
		t.Error(err)
	}
	if _, err := Read(home, "/p"); err != nil {
		t.Errorf("another's file is gone: %v", err)
	}
	if err := Remove(home, "/p", 8); err != nil {
		t.Error(err)
	}
	if _, err := Read(home, "/p"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestTheMarkOfAStoppedServerComesAndGoes(t *testing.T) {
	home := newHome(t)
	for range 2 {
		for _, stopped := range []bool{true, false} {
			if err := SetStopped(home, "/p", stopped); err != nil || locate.Stopped(home, "/p") != stopped {
				t.Errorf("%v: %v", stopped, err)
			}
		}
		if err := SetStopped(home, "/p", false); err != nil {
			t.Error(err)
		}
	}
}

func listen(t *testing.T, home, root string) *Socket {
	t.Helper()
	s, err := ListenSocket(t.Context(), home, root)
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		t.Skip("no Unix sockets here")
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// reaches says whether somebody listens at a path.
func reaches(path string) bool {
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

func TestASocketListensBeforeItIsInPlace(t *testing.T) {
	home := newHome(t)
	s := listen(t, home, "/p")
	if reaches(s.Path()) || !reaches(s.Temp()) {
		t.Error("it is in place already, or does not listen")
	}
	if err := s.Place(); err != nil || !reaches(s.Path()) {
		t.Errorf("not in place: %v", err)
	}
	if info, err := os.Lstat(s.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if err := s.Place(); err != nil {
		t.Errorf("placed again, as where the one before did it: %v", err)
	}
	s.Close()
	s.Remove()
	if _, err := os.Lstat(s.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its file stays: %v", err)
	}
}

func TestTheNextSocketTakesThePlaceAndStays(t *testing.T) {
	home := newHome(t)
	first := listen(t, home, "/p")
	if err := first.Place(); err != nil {
		t.Fatal(err)
	}
	next := listen(t, home, "/p") // as by another process; that of this one has the same name, which is free again
	if err := Place(next.Temp(), first.Path()); err != nil {
		t.Fatal(err)
	}
	first.Close()
	first.Remove()
	if !reaches(next.Path()) {
		t.Error("nobody listens in its place")
	}
}

func TestALeftoverSocketIsReplaced(t *testing.T) {
	home := newHome(t)
	dead := listen(t, home, "/p")
	if err := dead.Place(); err != nil {
		t.Fatal(err)
	}
	dead.Close() // and not removed, as after a crash
	s := listen(t, home, "/p")
	if err := s.Place(); err != nil || !reaches(s.Path()) {
		t.Errorf("not in place: %v", err)
	}
}

func TestALongPathHasItsSocketAmongTemporaryFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no Unix sockets there")
	}
	tmp := "/tmp"
	t.Setenv("TMPDIR", tmp)
	home := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	path := SocketPath(home, "/p")
	if len(path) > maxSocketPath || filepath.Dir(filepath.Dir(path)) != tmp {
		t.Errorf("path %s", path)
	}
	if other := SocketPath(home+"er", "/p"); other == path {
		t.Error("two homes share a socket")
	}
	t.Setenv("TMPDIR", "/tmp/"+strings.Repeat("long", 30))
	if path := SocketPath(home, "/p"); path != "" {
		t.Errorf("path %s", path)
	}
	if s, err := ListenSocket(t.Context(), home, "/p"); s != nil || err != nil {
		t.Errorf("a socket where there can be none: %v", err)
	}
}

func TestASocketIsNotPutIntoAFolderOfOthers(t *testing.T) {
	home := newHome(t)
	if SocketPath(home, "/p") != locate.Beside(home, "/p", ".sock") {
		t.Skip("no Unix sockets in the home here")
	}
	if err := os.Chmod(locate.Dir(home), 0o755); err != nil {
		t.Fatal(err)
	}
	if s, err := ListenSocket(t.Context(), home, "/p"); err == nil {
		s.Close()
		t.Error("it listens")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	if err := privateDir(link); err == nil {
		t.Error("a link is taken for a folder")
	}
}

func TestThePortOfTheServerBeforeIsTakenWhereItCanBe(t *testing.T) {
	first, err := ListenTCP(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	address := first.Addr().String()
	if shared := ShareTCP(t.Context(), address); (shared != nil) != canShare {
		t.Errorf("shared: %v", shared)
	} else if shared != nil {
		shared.Close()
	}
	first.Close()
	again, err := ListenTCP(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if again.Addr().String() != address {
		t.Skip("another program was faster")
	}

	// Another program, which shares with nobody, has it meanwhile.
	other, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
	if err != nil {
		t.Skip("the port is taken")
	}
	defer other.Close()
	elsewhere, err := ListenTCP(t.Context(), address)
	if err != nil || elsewhere.Addr().String() == address {
		t.Fatalf("%v, %v", elsewhere, err)
	}
	elsewhere.Close()
}
