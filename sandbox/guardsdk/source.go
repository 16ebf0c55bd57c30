//go:build !wasip1

package guardsdk

import (
	"embed"
	"io/fs"
)

//go:embed guardsdk.go serve.go wire.go exports_wasip1.go serve_native.go
var source embed.FS

// Source is the source of this package, for folders of guards that are built where
// bir's module cannot be had. Modules do not carry it.
func Source() fs.FS { return source }
