package tree

import (
	"slices"
	"strings"
	"testing"
)

// mustNotLink lists, for each binary that a host starts many times, the modules
// it must not carry, directly or through a package of ours.
var mustNotLink = map[string][]string{
	"cmd/bir-proxy": {
		"modernc.org/sqlite", "github.com/dop251/goja", "github.com/tetratelabs/wazero",
		"github.com/spf13/cobra", "github.com/evanw/esbuild", "mvdan.cc/sh",
		"github.com/modelcontextprotocol/go-sdk", "github.com/pressly/goose",
	},
	"cmd/bir-sandbox": {
		"modernc.org/sqlite", "github.com/spf13/cobra", "net/http", "mvdan.cc/sh",
		"github.com/modelcontextprotocol/go-sdk", "github.com/pressly/goose",
	},
}

func TestBinariesLinkOnlyWhatTheyNeed(t *testing.T) {
	imports := map[string][]string{}
	for _, f := range load(t) {
		if !f.Test {
			imports[f.Dir()] = append(imports[f.Dir()], f.Imports...)
		}
	}
	for binary, forbidden := range mustNotLink {
		if imports[binary] == nil {
			t.Errorf("%s has no source", binary)
		}
		for _, imp := range closure(imports, binary) {
			if slices.ContainsFunc(forbidden, func(lib string) bool { return under(imp, lib) }) {
				t.Errorf("%s links %s", binary, imp)
			}
		}
	}
}

// closure is every import reachable from pkg through packages of ours. What a
// library imports in turn is not followed: the list names the roots.
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
