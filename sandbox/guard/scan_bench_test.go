package guard

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkLook is what it costs each check to see whether a folder changed.
func BenchmarkLook(b *testing.B) {
	for _, n := range []int{0, 2, 10, 100} {
		b.Run(fmt.Sprintf("%d modules", n), func(b *testing.B) {
			dir := b.TempDir()
			for i := range n {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("g%03d.wasm", i)), []byte("x"), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			h := New(Config{HomeDir: dir, ProjectDir: filepath.Join(dir, "none"), PinFile: filepath.Join(dir, "guards.json"), BuiltIns: true})
			for b.Loop() {
				h.look()
				stampOf(h.cfg.PinFile)
			}
		})
	}
}
