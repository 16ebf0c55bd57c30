package env

import (
	"runtime"
	"strings"
)

// Other is the value of a variable that is another program's: where it keeps its
// files. Empty: it is not set.
func (e Env) Other(name string) string {
	for _, kv := range e.Vars {
		key, value, ok := strings.Cut(kv, "=")
		if ok && (key == name || runtime.GOOS == "windows" && strings.EqualFold(key, name)) {
			return value
		}
	}
	return ""
}
