package cli

import (
	"debug/buildinfo"
	"testing"

	"github.com/bir-run/bir/conformance/built"
	"github.com/bir-run/bir/conformance/tree"
)

// TestBinariesCarryNoModuleTheyMustNot reads what the linker put into each binary:
// it also sees what a library brings along, which the source of ours does not show.
func TestBinariesCarryNoModuleTheyMustNot(t *testing.T) {
	bin, err := built.Dir()
	if err != nil {
		t.Fatal(err)
	}
	for name, forbidden := range tree.MustNotLink() {
		info, err := buildinfo.ReadFile(built.Path(bin, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, module := range info.Deps {
			if tree.Linked(module.Path, forbidden) {
				t.Errorf("%s links %s", name, module.Path)
			}
		}
	}
}
