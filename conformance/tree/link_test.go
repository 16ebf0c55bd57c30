package tree

import (
	"strings"
	"testing"
)

func TestBinariesLinkOnlyWhatTheyNeed(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range load(t) {
		if !f.Test {
			imports[f.Dir()] = append(imports[f.Dir()], f.Imports...)
		}
	}
	for binary, forbidden := range MustNotLink() {
		if imports["cmd/"+binary] == nil {
			t.Errorf("cmd/%s has no source", binary)
		}
		for _, imp := range closure(imports, "cmd/"+binary) {
			if Linked(imp, forbidden) {
				t.Errorf("%s links %s", binary, imp)
			}
		}
	}
}

// TestHooksLinkTheStandardLibraryOnly: a host starts one of them at every event.
func TestHooksLinkTheStandardLibraryOnly(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range load(t) {
		if !f.Test {
			imports[f.Dir()] = append(imports[f.Dir()], f.Imports...)
		}
	}
	for _, imp := range closure(imports, "cmd/bir-hooks") {
		first, _, _ := strings.Cut(imp, "/")
		if strings.Contains(first, ".") && !strings.HasPrefix(imp, Module+"/") {
			t.Errorf("bir-hooks links %s", imp)
		}
	}
}

// closure is every import reachable from pkg through packages of ours. What a
// library imports in turn is not followed here; the built binaries are judged too.
func closure(imports map[string][]string, pkg string) []string {
	seen := map[string]bool{}
	var all []string
	var walk func(dir string)
	walk = func(dir string) {
		for _, imp := range imports[dir] {
			if seen[imp] {
				continue
			}
			seen[imp] = true
			all = append(all, imp)
			if to, ours := strings.CutPrefix(imp, Module+"/"); ours {
				walk(to)
			}
		}
	}
	walk(pkg)
	return all
}
