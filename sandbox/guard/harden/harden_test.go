package harden

import (
	"bytes"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/bir-run/bir/sandbox/guard/guardtest"
)

const testPages = 256

func TestEveryFunctionStartsWithALookAtTheDeadline(t *testing.T) {
	module := guardtest.Reactor(guardtest.Allow)
	hardened, err := Module(module.Bytes(), testPages)
	if err != nil {
		t.Fatal(err)
	}
	before, after := bytes.Count(module.Bytes(), emptyLoop), bytes.Count(hardened, emptyLoop)
	if after-before != len(module.Funcs) {
		t.Errorf("%d looks for %d functions", after-before, len(module.Funcs))
	}
}

func TestCustomSectionsAreDropped(t *testing.T) {
	plain := guardtest.Reactor(guardtest.Allow)
	named := plain
	named.TrailJunk = []byte{0, 6, 4, 'n', 'a', 'm', 'e', 0}
	want, err := Module(plain.Bytes(), testPages)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Module(named.Bytes(), testPages); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the section stayed (%v)", err)
	}
}

func TestCustomSectionIsFoundByItsName(t *testing.T) {
	m := guardtest.Reactor(guardtest.Allow)
	m.Custom = []guardtest.Custom{{Name: "other", Text: "a"}, {Name: "mine", Text: ""}, {Name: "mine2", Text: "b"}}
	for name, want := range map[string][]byte{"other": []byte("a"), "mine": {}, "min": nil} {
		if got, err := Custom(m.Bytes(), name); err != nil || !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	m.Custom = append(m.Custom, m.Custom[0])
	if _, err := Custom(m.Bytes(), "other"); err == nil {
		t.Error("a section that is there twice was read")
	}
	for cut := range len(m.Bytes()) {
		_, _ = Custom(m.Bytes()[:cut], "mine") // must not panic
	}
}

// Whatever the bytes: no panic, and what wazero takes before, it takes hardened.
func FuzzHarden(f *testing.F) {
	table := guardtest.Reactor(guardtest.Allow)
	table.TableMin = 3
	for _, m := range []guardtest.Module{guardtest.Reactor(guardtest.Deny), guardtest.Command("x", guardtest.Print(1)), table} {
		f.Add(m.Bytes())
	}
	r := wazero.NewRuntimeWithConfig(f.Context(), wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { _ = r.Close(f.Context()) })
	f.Fuzz(func(t *testing.T, module []byte) {
		if text, err := Custom(module, "name"); err != nil && text != nil {
			t.Fatal("a section and an error")
		}
		hardened, err := Module(module, testPages)
		if err != nil {
			return
		}
		if c, err := r.CompileModule(t.Context(), module); err == nil {
			_ = c.Close(t.Context())
			c, err := r.CompileModule(t.Context(), hardened)
			if err != nil {
				t.Fatalf("valid before and not after: %v", err)
			}
			_ = c.Close(t.Context())
		}
	})
}
