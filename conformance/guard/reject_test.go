package guard_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guard"
	"github.com/bir-run/bir/sandbox/guard/guardtest"
)

// notGuards are files that no host may ask, with what the sentence about each must
// name.
func notGuards() map[string]struct {
	data  []byte
	names string
} {
	reactor := guardtest.Reactor(guardtest.Allow)
	two := reactor.With("bir_guard_v1", guardtest.Const(2))
	foreign := guardtest.Command(guardtest.Allow, guardtest.Print(14))
	foreign.Imports[0].Module, foreign.Imports[0].Name = "env", "foo"
	socket := guardtest.Command(guardtest.Allow, guardtest.Print(14))
	socket.Imports[2].Name = "sock_shutdown"
	hidden := reactor
	hidden.NoExport = true
	huge := reactor.Add(guardtest.Func{Code: make([]byte, 130<<10)})
	hungry := reactor
	hungry.MinPages = 257
	tables := reactor
	tables.TableMin = 1 << 26
	mute := reactor.Without("bir_pin").Without("bir_value").Without("bir_step")
	wrong := reactor.Without("bir_step").Add(guardtest.Func{Export: "bir_step", Params: []byte{guardtest.I32},
		Results: []byte{guardtest.I64}, Code: guardtest.Const64(0)})
	head := []byte("\x00asm\x01\x00\x00\x00")
	type c = struct {
		data  []byte
		names string
	}
	return map[string]c{
		"no export at all":         {reactor.Without("bir_guard_v1").Bytes(), "neither bir_guard_v1"},
		"no bir_alloc":             {reactor.Without("bir_alloc").Bytes(), "bir_alloc"},
		"no question":              {mute.Bytes(), "none of bir_pin"},
		"memory not exported":      {hidden.Bytes(), "memory"},
		"a wrong signature":        {wrong.Bytes(), "bir_step(i32, i32) -> i64"},
		"ABI 2":                    {two.Bytes(), "ABI 2"},
		"imports env.foo":          {foreign.Bytes(), "env.foo"},
		"imports a socket":         {socket.Bytes(), "sock_shutdown"},
		"more memory than allowed": {hungry.Bytes(), "memoryMB"},
		"a function that takes minutes to compile": {huge.Bytes(), "128"},
		"locals without end":                       {append(append([]byte{}, head...), 10, 10, 1, 8, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x0b), "local variables"},
		"types without end":                        {append(append([]byte{}, head...), 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f), "announces"},
		"parameters without end":                   {append(append([]byte{}, head...), 1, 7, 1, 0x60, 0xff, 0xff, 0xff, 0xff, 0x0f), "parameters"},
		"a table bomb":                             {tables.Bytes(), "table"},
		"an empty file":                            {nil, "empty"},
		"text":                                     {[]byte("(module)"), "not a WebAssembly module"},
		"a component":                              {[]byte("\x00asm\x0d\x00\x01\x00"), "component"},
		"a module cut short":                       {reactor.Bytes()[:200], "cut short"},
		"junk after the last section":              {append(reactor.Bytes(), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "cut short"},
		"code that does not validate":              {reactor.With("bir_step", guardtest.Const(1)).Bytes(), "valid WebAssembly"},
		"over 16 MiB":                              {make([]byte, 16<<20+1), "16"},
	}
}

func TestFileThatIsNoGuardDeniesAndSaysWhatToDo(t *testing.T) {
	for name, c := range notGuards() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			put(t, filepath.Join(r.project, "odd.wasm"), c.data)
			v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
			if !strings.Contains(v.Verdict.Reason, c.names) || !strings.Contains(v.Verdict.Reason, "odd") {
				t.Errorf("the reason %q names neither the module nor %q", v.Verdict.Reason, c.names)
			}
			if m := module(t, r.Host, "odd"); m.State != guard.StateRejected || m.Problem == "" {
				t.Errorf("listed as %+v", m)
			}
		})
	}
}

func TestPlaceThatIsNoFileDenies(t *testing.T) {
	good := guardtest.Reactor(guardtest.Allow).Bytes()
	for name, c := range map[string]struct {
		place func(t *testing.T, path string)
		names string
	}{
		"a symbolic link": {func(t *testing.T, path string) {
			target := put(t, filepath.Join(t.TempDir(), "real.wasm"), good)
			if err := os.Symlink(target, path); err != nil {
				t.Skip("no symbolic links here: ", err)
			}
		}, "symbolic link"},
		"a folder": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "folder"},
		"a file that cannot be read": {func(t *testing.T, path string) {
			if runtime.GOOS == "windows" || os.Getuid() == 0 {
				t.Skip("everything can be read here")
			}
			if err := os.Chmod(put(t, path, good), 0); err != nil {
				t.Fatal(err)
			}
		}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c.place(t, filepath.Join(r.home, "odd.wasm"))
			v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
			if !strings.Contains(v.Verdict.Reason, c.names) {
				t.Errorf("the reason %q does not name %q", v.Verdict.Reason, c.names)
			}
		})
	}
}

func TestFolderThatIsAFileDenies(t *testing.T) {
	r := newRig(t)
	if err := os.Remove(r.project); err != nil {
		t.Fatal(err)
	}
	put(t, r.project, []byte("not a folder"))
	mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
}

func TestTwoModulesOfOneNameAreRefused(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "rule.wasm", guardtest.Reactor(guardtest.Allow))
	r.drop(t, r.project, "Rule.wasm", guardtest.Reactor(guardtest.Allow))
	v := mustDeny(t, r.Check(t.Context(), step("x")), guard.CodeRejected)
	if !strings.Contains(v.Verdict.Reason, "same name") {
		t.Errorf("reason %q", v.Verdict.Reason)
	}
	for _, m := range r.Modules() {
		if m.State != guard.StateRejected {
			t.Errorf("%s of %s is %s", m.Name, m.Scope, m.State)
		}
	}
}

func TestMalformedQuestionIsDenied(t *testing.T) {
	r := newRig(t)
	for name, args := range map[string]string{
		"a key given twice":            `{"path":"/a","path":"/b"}`,
		"a key given twice by escapes": `{"path":"/a","p\u0061th":"/b"}`,
		"a key given twice deep down":  `{"a":[{"b":1,"b":2}]}`,
		"not JSON":                     `{"path":`,
		"two values":                   `{} {}`,
		"not UTF-8":                    "{\"a\":\"\xff\"}",
		"nested without end":           strings.Repeat("[", 5000) + strings.Repeat("]", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			req := step("x")
			req.Args = []byte(args)
			mustDeny(t, r.Check(t.Context(), req), guard.CodeBadRequest)
		})
	}
	req := step("x")
	req.Kind = "other"
	mustDeny(t, r.Check(t.Context(), req), guard.CodeBadRequest)
}

func TestQuestionTooLargeIsDenied(t *testing.T) {
	r := newRig(t)
	r.drop(t, r.home, "any.wasm", guardtest.Reactor(guardtest.Allow))
	mustAllow(t, r.Check(t.Context(), step(strings.Repeat("x", 500<<10))))
	mustDeny(t, r.Check(t.Context(), step(strings.Repeat("x", 600<<10))), guard.CodeBadRequest)
}
