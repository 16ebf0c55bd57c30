package locate

import (
	"runtime"
	"strings"
)

// normal spells a real path in the one way that bir shows it. It keeps the case of
// names, since the client's own configuration is keyed with it.
func normal(path, goos string) string {
	if goos != "windows" {
		return path
	}
	return windowsPath(path)
}

// fold spells a path so that two spellings of one folder are equal. macOS and Windows
// keep the case of a name and do not tell names apart by it. A volume that was
// formatted to do so may hold two projects that differ in case only: they share a
// control server there, which keeps their sessions apart all the same.
func fold(path, goos string) string {
	path = normal(path, goos)
	if goos == "windows" || goos == "darwin" || goos == "ios" {
		return strings.ToLower(path)
	}
	return path
}

// windowsPath makes `c:/Users/x/`, `\\?\C:\Users\x` and `C:\Users\x` one path.
func windowsPath(path string) string {
	path = strings.ReplaceAll(path, "/", `\`)
	switch {
	case strings.HasPrefix(path, `\\?\UNC\`):
		path = `\\` + path[len(`\\?\UNC\`):]
	case strings.HasPrefix(path, `\\?\`), strings.HasPrefix(path, `\\.\`):
		path = path[4:]
	}
	if driveLetter(path) {
		path = strings.ToUpper(path[:1]) + path[1:]
	}
	for len(path) > 3 && strings.HasSuffix(path, `\`) { // 3: C:\ keeps its own
		path = path[:len(path)-1]
	}
	return path
}

func driveLetter(path string) bool {
	return len(path) >= 2 && path[1] == ':' && ('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
}

func here(path string) string { return normal(path, runtime.GOOS) }
