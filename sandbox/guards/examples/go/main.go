// Command NAME is a guard in Go: nothing is written outside one folder. The folder
// stands in NAME.json beside NAME.wasm:
//
//	{"config": {"folder": "/data/reports"}}
package main

import (
	"encoding/json"
	"log"
	"os"
	"path"
	"strings"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

var rule = guardsdk.Serve(guardsdk.Handlers{Step: check})

// main runs in command form only: a reactor is asked through its exports.
func main() {
	if err := rule.Command(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// check denies without settings: a guard that does not know its rule allows nothing.
func check(req guardsdk.Request) guardsdk.Verdict {
	var config struct{ Folder string }
	if err := json.Unmarshal(req.Config, &config); err != nil || !path.IsAbs(config.Folder) {
		return guardsdk.Denied("folder_settings", `the settings must have {"config": {"folder": "/..."}}`)
	}
	if !mentions(req.Tool, "write", "edit", "create", "move", "copy", "delete", "remove", "append", "save", "put") {
		return guardsdk.Allowed()
	}
	places := 0
	for _, s := range req.Strings {
		if !mentions(s.Path, "path", "file", "dir", "folder", "source", "destination", "target") {
			continue
		}
		places++
		// Cleaned first, so that no ".." leads out again. The slash keeps /a/bc out of /a/b.
		if !strings.HasPrefix(path.Clean(s.Value), path.Clean(config.Folder)+"/") || strings.Contains(s.Value, `\`) {
			return guardsdk.Denied("outside_folder", "it writes outside "+config.Folder+" ("+s.Path+")")
		}
	}
	if places == 0 {
		return guardsdk.Denied("no_place", "it writes, and its arguments do not say where")
	}
	return guardsdk.Allowed()
}

func mentions(name string, words ...string) bool {
	for _, word := range words {
		if strings.Contains(strings.ToLower(name), word) {
			return true
		}
	}
	return false
}
