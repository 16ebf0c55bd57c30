package tree

import "strings"

// MustNotLink lists, for each binary that is started many times, the modules it
// must not carry, directly or through a package of ours. net/http is not among
// those of bir-sandbox: the library that lowers syntax imports it for a server that
// is never started, and the worker may open no socket anyway.
func MustNotLink() map[string][]string {
	return map[string][]string{
		"bir-proxy": {
			"modernc.org/sqlite", "github.com/dop251/goja", "github.com/tetratelabs/wazero",
			"github.com/spf13/cobra", "github.com/evanw/esbuild", "mvdan.cc/sh",
			"github.com/modelcontextprotocol/go-sdk", "github.com/pressly/goose",
		},
		// No module at all, which another test holds, and of the standard library nothing
		// that makes a process of two milliseconds take three.
		"bir-hooks": {"net/http", "encoding/json", "regexp", "log/slog", "os/exec", "os/signal"},
		"bir-control": {
			"modernc.org/sqlite", "github.com/dop251/goja", "github.com/spf13/cobra", "github.com/evanw/esbuild",
			"mvdan.cc/sh", "github.com/modelcontextprotocol/go-sdk", "github.com/pressly/goose",
		},
		"bir-sandbox": {
			"modernc.org/sqlite", "github.com/spf13/cobra", "mvdan.cc/sh",
			"github.com/modelcontextprotocol/go-sdk", "github.com/pressly/goose",
		},
	}
}

// Linked says whether an import or module path is one of the forbidden ones, or
// below it.
func Linked(path string, forbidden []string) bool {
	for _, lib := range forbidden {
		if path == lib || strings.HasPrefix(path, lib+"/") {
			return true
		}
	}
	return false
}
