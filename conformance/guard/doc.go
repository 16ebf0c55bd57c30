// Package guard judges the host of guards from outside: what a module may be, how
// one that misbehaves is stopped, when a file counts, and that the built-in module
// is what its source says. It owns nothing that other packages use.
package guard
