//go:build !wasip1

package rawjson

import (
	"embed"
	"io/fs"
)

//go:embed rawjson.go
var source embed.FS

// Source is the source of this package, which goes where that of guardsdk goes.
func Source() fs.FS { return source }
