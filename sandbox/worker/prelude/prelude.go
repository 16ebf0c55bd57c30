// Package prelude holds what Node has and the interpreter lacks, as JavaScript: one
// file a feature, each a function that gets our helpers and defines its part. It
// runs nothing; the worker compiles a file when the first body needs it.
package prelude

import "embed"

// Files are the features, by file name.
//
//go:embed *.js
var Files embed.FS
