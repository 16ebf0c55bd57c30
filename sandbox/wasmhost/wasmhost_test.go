package wasmhost

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bir-run/bir/sandbox/internal/wasmfile"
	"github.com/bir-run/bir/sandbox/wire"
	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
)

// granted are the imports of the guest. Its toolchain wants them; there are no files
// and no sockets behind any, and the streams are the host's.
var granted = strings.Fields(`args_get args_sizes_get clock_time_get environ_get environ_sizes_get
	fd_close fd_fdstat_get fd_fdstat_set_flags fd_filestat_get fd_filestat_set_size fd_pread fd_prestat_dir_name fd_prestat_get
	fd_pwrite fd_read fd_readdir fd_seek fd_sync fd_write sock_accept sock_shutdown
	path_filestat_get path_open poll_oneoff proc_exit random_get sched_yield`)

func TestTheGuestImportsNothingElse(t *testing.T) {
	module, err := wasmfile.Unpack(packed, sum)
	if err != nil {
		t.Fatal(err)
	}
	// The interpreter compiles nothing: only the imports are looked at.
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfigInterpreter())
	defer r.Close(context.WithoutCancel(t.Context()))
	compiled, err := r.CompileModule(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range compiled.ImportedFunctions() {
		from, name, _ := f.Import()
		if from != "wasi_snapshot_preview1" || !slices.Contains(granted, name) {
			t.Errorf("imports %s.%s", from, name)
		}
	}
}

// made is a cache folder that looks compiled: the code in it is none, and is not read.
func made(t *testing.T) (cacheDir, dir string) {
	t.Helper()
	cacheDir = t.TempDir()
	dir = folder(cacheDir)
	module, err := wasmfile.Unpack(packed, sum)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, moduleFile), module, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close(t.Context())
	versions, err := filepath.Glob(filepath.Join(dir, "wazero-*"))
	if err != nil || len(versions) != 1 {
		t.Fatalf("%v: %q", err, versions)
	}
	if err := os.WriteFile(filepath.Join(versions[0], "code"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !Compiled(cacheDir) {
		t.Fatal("it is not taken for whole")
	}
	return cacheDir, dir
}

func TestWhatIsNotWholeIsNotTaken(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, dir string){
		"no guest": func(t *testing.T, dir string) { remove(t, filepath.Join(dir, moduleFile)) },
		"another guest": func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, moduleFile))
			if err := os.WriteFile(filepath.Join(dir, moduleFile), []byte("\x00asm"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"no code": func(t *testing.T, dir string) {
			files, err := filepath.Glob(filepath.Join(dir, "wazero-*", "*"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%v: no code in %s", err, dir)
			}
			for _, file := range files {
				remove(t, file)
			}
		},
		"code of another wazero": func(t *testing.T, dir string) {
			versions, err := filepath.Glob(filepath.Join(dir, "wazero-*"))
			if err != nil || len(versions) != 1 {
				t.Fatalf("%v: %q", err, versions)
			}
			if err := os.Rename(versions[0], filepath.Join(dir, "wazero-v0.0.1")); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cacheDir, dir := made(t)
			damage(t, dir)
			if Compiled(cacheDir) {
				t.Error("it is taken for whole")
			}
			in := bytes.NewReader(frame(t, wire.Setup{Version: wire.Version, MemoryBytes: 64 << 20}))
			err := Serve(t.Context(), cacheDir, in, io.Discard, io.Discard, func(wire.Setup) []string { return nil })
			if !errors.Is(err, ErrNotCompiled) {
				t.Errorf("it is served with: %v", err)
			}
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func TestOldFoldersAreForgotten(t *testing.T) {
	cacheDir := t.TempDir()
	old := time.Now().Add(-2 * keepFor)
	for name, at := range map[string]time.Time{"body-old": old, "body-new": time.Now(), "making-1": time.Now(), "wazero-v1": old, "body.lock": old} {
		path := filepath.Join(cacheDir, name)
		if err := errors.Join(os.Mkdir(path, 0o700), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	forgetOld(cacheDir)
	entries, err := os.ReadDir(cacheDir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff([]string{"body-new", "body.lock", "wazero-v1"}, left); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func frame(t *testing.T, v any) []byte {
	t.Helper()
	f, err := wire.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTheGreetingSaysWhatHoldsTheGuest(t *testing.T) {
	var out bytes.Buffer
	a := &answers{out: &out, held: []string{"a", "b"}}
	for _, piece := range []int{1, 5, 1 << 20} { // however the guest writes it
		out.Reset()
		a.greeted, a.hello = false, nil
		greeting := frame(t, wire.Hello{Version: 7, Confinement: []string{"a lie"}})
		for len(greeting) > 0 {
			n := min(piece, len(greeting))
			if _, err := a.Write(greeting[:n]); err != nil {
				t.Fatal(err)
			}
			greeting = greeting[n:]
		}
		if _, err := a.Write([]byte("more")); err != nil {
			t.Fatal(err)
		}
		want := string(frame(t, wire.Hello{Version: 7, Confinement: []string{"a", "b"}})) + "more"
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("in pieces of %d (-want +got):\n%s", piece, diff)
		}
	}
}

func TestAGreetingThatIsNoneEndsTheGuest(t *testing.T) {
	for _, greeting := range []string{"\xff\xff\xff\xffx", "\x00\x00\x00\x01{"} {
		a := &answers{out: io.Discard}
		if _, err := a.Write([]byte(greeting)); err == nil {
			t.Errorf("%q is taken for one", greeting)
		}
	}
}

// The guest gets each request whole and in order; what no evaluator would take is
// answered without it.
func TestRequestsAreLoweredOnTheWay(t *testing.T) {
	plain := wire.Request{Source: "return 1"}
	needs := wire.Request{Source: "return (async () => { for await (const x of []) return x })()"}
	broken := wire.Request{Source: "return ["}
	in := io.MultiReader(bytes.NewReader(frame(t, plain)), bytes.NewReader(frame(t, broken)), bytes.NewReader(frame(t, needs)))
	var out bytes.Buffer
	q := &questions{frames: make(chan []byte)}
	ended := make(chan error, 1)
	go func() { ended <- q.relay(in, &out, 1<<20) }() // ends with in
	guest := iotest.OneByteReader(q)
	var first, second wire.Request
	for _, req := range []*wire.Request{&first, &second} {
		if err := wire.Read(guest, 1<<20, req); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != io.EOF {
		t.Errorf("ended with %v", err)
	}
	if first.Source != plain.Source || first.Lowered != nil {
		t.Errorf("first: %+v", first)
	}
	if second.Source != needs.Source || second.Lowered == nil || !bytes.Contains(second.Lowered.Code, []byte("__forAwait")) {
		t.Errorf("second: %+v", second)
	}
	var resp wire.Response
	if err := wire.Read(&out, 1<<20, &resp); err != nil || resp.Failure == nil || resp.Failure.Type != "syntax" {
		t.Errorf("answered %+v, %v", resp.Failure, err)
	}
	if n, err := q.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after the end: %d, %v", n, err)
	}
}
