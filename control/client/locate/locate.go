// Package locate finds the control server of a project: which root a working folder
// belongs to, where the discovery file of that root is, and what it says. Hooks,
// proxies, the CLI and the control server itself all ask here, so that they agree. It
// imports the standard library only, starts nothing, and never runs git.
//
// A root is named as the client names it: by its real path. The client asks the
// kernel for its working folder and so never sees a symbolic link in it, but a shell
// hands the linked path to a child in PWD, which Go believes. Without this, a proxy
// and a hook of one session would look for two control servers.
package locate

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
)

// keyLength is how much of the hash names a root's files. 64 bits keep them apart and
// the path of a socket short.
const keyLength = 16

// Dir is the folder of the discovery files of a home.
func Dir(home string) string { return filepath.Join(home, "control") }

// Key names the files of a root. Two spellings of one folder have one key.
func Key(root string) string {
	sum := sha256.Sum256([]byte(fold(root, runtime.GOOS)))
	return hex.EncodeToString(sum[:])[:keyLength]
}

// Path is the discovery file of a root.
func Path(home, root string) string { return Beside(home, root, ".json") }

// StoppedPath is the mark of a root whose control server was stopped by its user.
func StoppedPath(home, root string) string { return Beside(home, root, ".stopped") }

// Beside is the path of another file of a root's control server, such as ".lock".
func Beside(home, root, suffix string) string {
	return filepath.Join(Dir(home), Key(root)+suffix)
}

// Stopped says whether the user stopped the control server of a root, so that nobody
// but a new session or the user starts it again. A mark that cannot be looked at is
// one that is there: what cannot be read must not start a process.
func Stopped(home, root string) bool {
	_, err := os.Lstat(StoppedPath(home, root))
	return !os.IsNotExist(err)
}
