// Package examples carries guards to start one's own from: a rule in each of several
// languages with its cases, and two modules that are built already, for a machine
// without any compiler. Nothing here is loaded unless someone installs it.
package examples

import (
	"embed"
	"io/fs"
)

//go:embed README.md command/main.go go c assemblyscript wat
var files embed.FS

// Files holds the examples by their path below this folder.
func Files() fs.FS { return files }

// The files that other programs name.
const (
	Module        = "wat/deny-us-east.wasm" // ready to install; denies whatever has us-east in it
	CommandSource = "command/main.go"       // the same as one Go file with no dependency
)
