package daemon

import (
	"runtime"
	"slices"
	"strings"
)

// needed are the variables of a starter's environment that a control server and the
// service that it may start have a use for. The rest stays behind: a host's
// environment holds its user's keys, and the server lives on after the session.
var needed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "LANG", "TZ",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", // to another service than the embedded one
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA",
	"GODEBUG", "GOTRACEBACK", "GOMAXPROCS", "GOMEMLIMIT", "GOCOVERDIR", "GORACE",
}

// ofOneProcess are variables of ours that speak to the process that has them only.
var ofOneProcess = []string{"BIR_OFF", "BIR_UPSTREAM_HEADERS", "BIR_CONTROL_URL", "BIR_CONTROL_TOKEN", "BIR_HOOKS_DEBUG"}

// Environment is what a control server gets of its starter's environment.
func Environment(environ []string, home string) []string {
	kept := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !keeps(name)
	})
	// Absolute: the starter may have meant it relative to its own folder.
	return append(kept, "BIR_HOME="+home)
}

func keeps(name string) bool {
	upper := strings.ToUpper(name)
	switch {
	case slices.Contains(ofOneProcess, upper):
		return false
	case strings.HasPrefix(upper, "BIR_"), strings.HasPrefix(upper, "LC_"), strings.HasPrefix(upper, "XDG_"):
		return true
	case runtime.GOOS != "windows" && name != upper && !strings.HasSuffix(upper, "_PROXY"):
		return false // another variable there
	}
	return slices.Contains(needed, upper)
}
