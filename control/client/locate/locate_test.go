package locate

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const good = `{"url":"http://127.0.0.1:53411","socket":"/run/x.sock","token":"abc","pid":7,"version":"1.2",` +
	`"root":"/p","startedAt":1756600000000,"sessionId":"","later":{"field":[1]}}`

// announce writes the discovery file of a root in a new home.
func announce(t *testing.T, root, text string, mode os.FileMode) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.MkdirAll(Dir(home), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(Path(home, root), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(Path(home, root), mode); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	return home
}

func TestDiscoveryFileIsRead(t *testing.T) {
	got, err := Read(announce(t, "/p", good, 0o600), "/p")
	if err != nil {
		t.Fatal(err)
	}
	want := File{URL: "http://127.0.0.1:53411", Socket: "/run/x.sock", Token: "abc", PID: 7,
		Version: "1.2", Root: "/p", StartedAt: 1756600000000}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDiscoveryFileThatIsNotToBeBelievedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want error
	}{
		"others read it":    {good, 0o644, ErrExposed},
		"a group writes it": {good, 0o620, ErrExposed},
		"empty":             {"", 0o600, ErrBad},
		"cut short":         {good[:40], 0o600, ErrBad},
		"a number for text": {strings.Replace(good, `"abc"`, "7", 1), 0o600, ErrBad},
		"text for a number": {strings.Replace(good, `7,`, `"7",`, 1), 0o600, ErrBad},
		"two objects":       {good + good, 0o600, ErrBad},
		"no token":          {`{"url":"http://127.0.0.1:1"}`, 0o600, ErrBad},
		"too large":         {good + strings.Repeat(" ", maxFileBytes), 0o600, errTooLarge},
		"another machine":   {strings.Replace(good, "127.0.0.1", "192.0.2.7", 1), 0o600, ErrRemote},
		"a name":            {strings.Replace(good, "127.0.0.1", "127.0.0.1.example.com", 1), 0o600, ErrRemote},
		"user info":         {strings.Replace(good, "127.0.0.1:", "127.0.0.1:1@example.com:", 1), 0o600, ErrRemote},
		"no port":           {strings.Replace(good, ":53411", "", 1), 0o600, ErrRemote},
		"port 0":            {strings.Replace(good, ":53411", ":0", 1), 0o600, ErrRemote},
		"a large port":      {strings.Replace(good, ":53411", ":65536", 1), 0o600, ErrRemote},
		"https":             {strings.Replace(good, "http:", "https:", 1), 0o600, ErrRemote},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == ErrExposed && os.PathSeparator == '\\' {
				t.Skip("a file's mode says nothing on Windows")
			}
			got, err := Read(announce(t, "/p", c.text, c.mode), "/p")
			if !errors.Is(err, c.want) || got != (File{}) {
				t.Errorf("got %+v, error %v, want %v", got, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "abc") {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

// TestFileIsReadAsItIsWritten: others write it with encoding/json.
func TestFileIsReadAsItIsWritten(t *testing.T) {
	want := File{URL: "http://[::1]:1", Socket: "/tmp/ü/\"x\".sock", Token: "t<&>", PID: 1 << 30,
		Version: "v1", Root: `C:\Users\é`, StartedAt: 1 << 50, SessionID: "s"}
	text, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got, ok := parse(text)
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("%v: %s", ok, diff)
	}
}

func TestMissingDiscoveryFileIsNotThere(t *testing.T) {
	if _, err := Read(t.TempDir(), "/p"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestIPv6LoopbackIsThisMachine(t *testing.T) {
	if address, ok := (File{URL: "http://[::1]:80/"}).Address(); !ok || address != "[::1]:80" {
		t.Errorf("address %q, %v", address, ok)
	}
}

func TestStoppedIsTheMarkBesideTheFile(t *testing.T) {
	home := announce(t, "/p", good, 0o600)
	if Stopped(home, "/p") {
		t.Error("stopped without a mark")
	}
	if err := os.WriteFile(StoppedPath(home, "/p"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if !Stopped(home, "/p") || Stopped(home, "/q") {
		t.Error("the mark does not mean its own root")
	}
}

func TestFilesOfARootLieBesideOneAnother(t *testing.T) {
	if got, want := Path("/h", "/p"), filepath.Join("/h", "control", Key("/p")+".json"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(Key("/p")) || Key("/p") == Key("/q") {
		t.Errorf("keys %s and %s", Key("/p"), Key("/q"))
	}
}

func TestPathsAreNormalisedForTheirSystem(t *testing.T) {
	for _, c := range []struct{ goos, path, normal, folded string }{
		{"linux", "/Home/Dev", "/Home/Dev", "/Home/Dev"},
		{"linux", `/odd\name`, `/odd\name`, `/odd\name`},
		{"darwin", "/Users/Dev/Fleet", "/Users/Dev/Fleet", "/users/dev/fleet"},
		{"windows", `c:\Users\Dev`, `C:\Users\Dev`, `c:\users\dev`},
		{"windows", `C:/Users/Dev/`, `C:\Users\Dev`, `c:\users\dev`},
		{"windows", `\\?\C:\Users\Dev`, `C:\Users\Dev`, `c:\users\dev`},
		{"windows", `\\?\UNC\Server\Share\x`, `\\Server\Share\x`, `\\server\share\x`},
		{"windows", `\\Server\Share\`, `\\Server\Share`, `\\server\share`},
		{"windows", `d:\`, `D:\`, `d:\`},
		{"windows", `d:/`, `D:\`, `d:\`},
		{"windows", ``, ``, ``},
	} {
		if got := normal(c.path, c.goos); got != c.normal {
			t.Errorf("%s: normal %q is %q, want %q", c.goos, c.path, got, c.normal)
		}
		if got := fold(c.path, c.goos); got != c.folded {
			t.Errorf("%s: fold %q is %q, want %q", c.goos, c.path, got, c.folded)
		}
		if once := fold(c.path, c.goos); fold(once, c.goos) != once && c.goos != "windows" {
			t.Errorf("%s: folding %q twice is another path", c.goos, c.path)
		}
	}
}
