package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bir-run/bir/control/client/scan"
)

// turnedOff says whether the user took bir out of the way for a folder. It reads what
// package off writes, without that package's lock and JSON: most often there is no
// such file. A switch that cannot be read was not thrown.
func turnedOff(home, dir string) bool {
	text, err := os.ReadFile(filepath.Join(home, "off.json"))
	if err != nil {
		return false
	}
	everywhere, here := false, false
	ok := scan.Members(text, func(key string, value []byte) bool {
		switch key {
		case "everywhere":
			everywhere = string(value) == "true"
		case "folders":
			here = holds(value, dir)
		}
		return true
	})
	return ok && (everywhere || here)
}

// holds says whether one of the folders is dir or above it, by the paths as they are
// given or by the real ones: a shell keeps the links in a path, and the host does not.
func holds(folders []byte, dir string) bool {
	found := false
	scan.Items(folders, func(value []byte) bool {
		folder, ok := scan.String(value)
		found = ok && (within(dir, folder) || within(real(dir), real(folder)))
		return !found
	})
	return found
}

func within(dir, folder string) bool {
	rel, err := filepath.Rel(folder, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}
