package claude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/journal"
)

// TokenVar is the variable from which hooks over HTTP take the control server's token.
const TokenVar = "BIR_CONTROL_TOKEN"

// Hooks says how the client is to call bir.
type Hooks struct {
	Binary string // path of bir-hooks
	Scope  string // user, project or local: whose settings they go to
	// URL and Token are the control server's, for hooks over HTTP. Empty: every event
	// starts bir-hooks.
	URL, Token string
}

// command is a hook without a shell: no quoting, and no secret in the file.
type command struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout int      `json:"timeout"`
	Async   bool     `json:"async,omitempty"`
}

type request struct {
	Type    string            `json:"type"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Allowed []string          `json:"allowedEnvVars"`
	Timeout int               `json:"timeout"`
}

type group struct {
	Hooks []any `json:"hooks"`
}

// Change is what registers the hooks.
func (h Hooks) Change(p hosts.Places) (hosts.Change, error) {
	c := hosts.Change{Host: Name, File: SettingsFile(p, h.Scope), Format: hosts.JSON}
	if h.URL != "" {
		ops, err := h.environment(c.File)
		if err != nil {
			return c, err
		}
		c.Ops = append(c.Ops, ops...)
	}
	for _, e := range event.Registered() {
		value, err := json.Marshal(group{Hooks: []any{h.hook(e)}})
		if err != nil {
			return c, err
		}
		c.Ops = append(c.Ops, hosts.Op{Kind: journal.Add, Path: []string{"hooks", e.Name}, Value: value})
	}
	return c, nil
}

func (h Hooks) hook(e event.Event) any {
	timeout := int(e.Timeout.Seconds())
	if h.URL == "" || e.Command {
		return command{Type: "command", Command: h.Binary, Args: []string{e.Name}, Timeout: timeout, Async: e.Async}
	}
	return request{
		Type: "http", URL: h.URL + e.Path, Timeout: timeout,
		Headers: map[string]string{"Authorization": "Bearer $" + TokenVar}, Allowed: []string{TokenVar},
	}
}

// environment is what hooks over HTTP need: the client obeys proxy variables even on
// loopback, and has to get the token from somewhere. It is put into the same file,
// which only the user's own one may be.
func (h Hooks) environment(file string) ([]hosts.Op, error) {
	if h.Scope == "project" {
		return nil, fmt.Errorf("hooks over HTTP need a token, which must not be in %s: the project's own settings are shared", file)
	}
	token, err := json.Marshal(h.Token)
	if err != nil {
		return nil, err
	}
	direct, err := json.Marshal(noProxy(readSettings(file).Env["NO_PROXY"]))
	if err != nil {
		return nil, err
	}
	return []hosts.Op{
		{Kind: journal.Put, Path: []string{"env", "NO_PROXY"}, Value: direct},
		{Kind: journal.Put, Path: []string{"env", TokenVar}, Value: token, Secret: true},
	}, nil
}

// noProxy adds loopback to a list of hosts.
func noProxy(list string) string {
	const loopback = "127.0.0.1"
	hosts := strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
	if slices.Contains(hosts, loopback) || slices.Contains(hosts, "*") {
		return list
	}
	return strings.Join(append(hosts, loopback), ",")
}

// HookState is what is registered.
type HookState struct {
	Files   []string `json:"files,omitempty"` // of settings, with hooks of bir's
	Kind    string   `json:"kind,omitempty"`  // command or http
	Binary  string   `json:"binary,omitempty"`
	URL     string   `json:"url,omitempty"`
	Missing []string `json:"missing,omitempty"` // events without a hook, where some have one
	Off     string   `json:"off,omitempty"`     // why none of them runs
}

// FindHooks looks for bir's hooks where the client does.
func FindHooks(p hosts.Places) HookState {
	var state HookState
	seen := map[string]bool{}
	for _, scope := range []string{"user", "project", "local"} {
		file := SettingsFile(p, scope)
		s := readSettings(file)
		if s.NoHooks {
			state.Off = file + " switches all hooks off (disableAllHooks)"
		}
		for name, groups := range s.Hooks {
			if state.note(groups, name) {
				seen[name] = true
				if !slices.Contains(state.Files, file) {
					state.Files = append(state.Files, file)
				}
			}
		}
	}
	if readPolicy(p).OwnHooks {
		state.Off = "your administrator lets only their own hooks run (allowManagedHooksOnly)"
	}
	for _, e := range event.Registered() {
		if len(seen) > 0 && !seen[e.Name] {
			state.Missing = append(state.Missing, e.Name)
		}
	}
	return state
}

// note looks for a hook of bir's among those of an event.
func (h *HookState) note(groups []any, name string) bool {
	found := false
	for _, g := range groups {
		group, _ := g.(map[string]any)
		list, _ := group["hooks"].([]any)
		for _, item := range list {
			hook, _ := item.(map[string]any)
			binary, _ := hook["command"].(string)
			url, _ := hook["url"].(string)
			e, _ := event.Named(name)
			switch {
			case isHooks(binary):
				h.Binary, found = binary, true
				if h.Kind == "" {
					h.Kind = "command"
				}
			case strings.HasPrefix(url, "http://127.0.0.1:") && strings.HasSuffix(url, e.Path) && e.Path != "":
				h.Kind, h.URL, found = "http", strings.TrimSuffix(url, e.Path), true
			}
		}
	}
	return found
}

func isHooks(path string) bool {
	base := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	return strings.TrimSuffix(base, ".exe") == "bir-hooks"
}

// Exists says whether the client has ever run here.
func Exists(p hosts.Places) bool {
	f, err := files.Read(Config(p))
	return err == nil && f.Exists
}
