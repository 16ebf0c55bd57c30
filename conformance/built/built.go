// Package built builds bir's binaries once for each test process that judges them
// from outside.
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
)

var dir = sync.OnceValues(build)

// Dir is a folder with every binary, freshly built from the source. The caller
// runs Remove when its tests are done.
func Dir() (string, error) { return dir() }

// Remove deletes the folder, if it was made.
func Remove() {
	if d, err := dir(); err == nil {
		os.RemoveAll(d)
	}
}

// Root is the top of the source tree.
func Root() (string, error) {
	at, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(at, "go.mod")); err == nil {
			return at, nil
		}
		up := filepath.Dir(at)
		if up == at {
			return "", fmt.Errorf("no go.mod above the working folder")
		}
		at = up
	}
}

// Path is the path of one binary in dir.
func Path(dir, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}

func build() (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	out, err := os.MkdirTemp("", "bir-built-")
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", out+string(filepath.Separator), "./cmd/...")
	cmd.Dir = root
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		os.RemoveAll(out)
		return "", fmt.Errorf("build the binaries: %w\n%s", err, text)
	}
	return out, nil
}
