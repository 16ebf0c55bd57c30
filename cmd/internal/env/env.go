// Package env reads every environment variable of bir, once, into one struct.
// Nothing else reads the environment. The same table prints `bir env`.
package env

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Env is what the environment says. A variable that is not set, or whose value
// is not allowed, has its documented default.
type Env struct {
	Home             string        // absolute
	AuthURL          string        // empty: the embedded service
	AuthToken        string        //
	Off              bool          //
	LogicTimeout     time.Duration //
	LogicMemoryBytes int64         //
	Sandbox          string        // auto, process or wasm: where bodies run
	StepTimeout      time.Duration //
	MaxMessageBytes  int           //
	ConnectTimeout   time.Duration // to a server over HTTP
	// UpstreamHeaders go with every request to a server over HTTP.
	UpstreamHeaders map[string]string
	GuardTrace      bool   //
	StayUp          bool   // of a proxy whose server ended
	CallIDs         bool   // calls are told apart by a member of their arguments
	ControlURL      string // of a control server, where ControlToken is set, too
	ControlToken    string //
	SessionID       string // of the host that started us
	// ControlIdle is when a control server that nobody needs ends; zero is never.
	ControlIdle time.Duration
	Vars        []string // the whole environment, for children that need it
}

// Var documents one variable, for `bir env`.
type Var struct {
	Name    string `json:"name"`
	Value   string `json:"value"` // as it is in force
	Default string `json:"default"`
	Meaning string `json:"meaning"`
	Set     bool   `json:"set"`
}

const (
	second = 1000 // in milliseconds
	mib    = 1 << 20
)

// variable is one row of the table: how a value is read and shown.
type variable struct {
	name, def, meaning string
	secret             bool
	read               func(*Env, string) error
}

func table() []variable {
	return []variable{
		{name: "BIR_HOME", def: "~/.baseinstrunner", meaning: "folder of bir's data",
			read: func(e *Env, v string) (err error) { e.Home, err = absolute(v); return err }},
		{name: "BIR_AUTH_URL", meaning: "another service than the embedded one",
			read: func(e *Env, v string) (err error) { e.AuthURL, err = httpURL(v); return err }},
		{name: "BIR_AUTH_TOKEN", meaning: "bearer token for BIR_AUTH_URL", secret: true,
			read: func(e *Env, v string) error { e.AuthToken = v; return nil }},
		{name: "BIR_OFF", def: "0", meaning: "1 relays without recording",
			read: func(e *Env, v string) (err error) { e.Off, err = boolean(v); return err }},
		{name: "BIR_LOGIC_TIMEOUT_MS", def: "1000", meaning: "time a body may run, 1 to 10000",
			read: func(e *Env, v string) (err error) {
				e.LogicTimeout, err = millis(v, 1, 10*second)
				return err
			}},
		{name: "BIR_LOGIC_MEMORY_MB", def: "64", meaning: "memory a body may use, 16 to 1024",
			read: func(e *Env, v string) error {
				n, err := number(v, 16, 1024)
				e.LogicMemoryBytes = n * mib
				return err
			}},
		{name: "BIR_SANDBOX", def: "auto", meaning: "where bodies run: auto, process, or wasm inside it; auto takes wasm for those that nobody has proved",
			read: func(e *Env, v string) (err error) { e.Sandbox, err = level(v); return err }},
		{name: "BIR_STEP_TIMEOUT_MS", def: "60000", meaning: "time a replayed tool call may take, 1 to 600000",
			read: func(e *Env, v string) (err error) {
				e.StepTimeout, err = millis(v, 1, 600*second)
				return err
			}},
		{name: "BIR_UPSTREAM_MAX_MESSAGE_BYTES", def: "134217728", meaning: "largest message relayed, 1024 to 2147483647",
			read: func(e *Env, v string) error {
				n, err := number(v, 1024, 1<<31-1)
				e.MaxMessageBytes = int(n)
				return err
			}},
		{name: "BIR_UPSTREAM_CONNECT_TIMEOUT_MS", def: "10000", meaning: "time to connect to a server over HTTP, 1 to 600000",
			read: func(e *Env, v string) (err error) {
				e.ConnectTimeout, err = millis(v, 1, 600*second)
				return err
			}},
		{name: upstreamHeaders, meaning: "headers for a server over HTTP, a JSON object; taken out of the environment", secret: true,
			read: func(e *Env, v string) error {
				if json.Unmarshal([]byte(v), &e.UpstreamHeaders) != nil { // whose error would show some of it
					e.UpstreamHeaders = nil
					return errors.New("want a JSON object of strings")
				}
				return nil
			}},
		{name: "BIR_PROXY_STAY_UP", def: "0", meaning: "1 keeps a proxy up when its server has ended, answering with errors",
			read: func(e *Env, v string) (err error) { e.StayUp, err = boolean(v); return err }},
		{name: "BIR_CORRELATION", def: "tool-use-id", meaning: "how hook and proxy tell calls apart: tool-use-id or call-id",
			read: func(e *Env, v string) (err error) { e.CallIDs, err = correlation(v); return err }},
		{name: controlURL, meaning: "control server of an SDK session, with BIR_CONTROL_TOKEN; else the project's own",
			read: func(e *Env, v string) (err error) { e.ControlURL, err = httpURL(v); return err }},
		{name: controlToken, meaning: "bearer token for BIR_CONTROL_URL; taken out of the environment", secret: true,
			read: func(e *Env, v string) error { e.ControlToken = v; return nil }},
		{name: "CLAUDE_CODE_SESSION_ID", meaning: "session that the host was in when it started us; set by the host",
			read: func(e *Env, v string) error { e.SessionID = v; return nil }},
		{name: "BIR_CONTROL_IDLE_MS", def: "1800000", meaning: "time after which a control server that nobody needs ends, 0 for never",
			read: func(e *Env, v string) (err error) {
				e.ControlIdle, err = millis(v, 0, 7*24*3600*second)
				return err
			}},
		{name: "BIR_GUARD_TRACE", def: "0", meaning: "1 logs every verdict, not only denials",
			read: func(e *Env, v string) (err error) { e.GuardTrace, err = boolean(v); return err }},
		{name: "BIR_HOOKS_DEBUG", def: "0", meaning: "1 lets bir-hooks, which reads it itself, say what went wrong",
			read: func(_ *Env, v string) error { _, err := boolean(v); return err }},
	}
}

const (
	upstreamHeaders = "BIR_UPSTREAM_HEADERS" // may hold a password or a token
	controlURL      = "BIR_CONTROL_URL"
	controlToken    = "BIR_CONTROL_TOKEN"
)

// Process reads the environment of this process. What is for bir's processes only is
// taken out of it, so that no child inherits it.
func Process() (Env, error) {
	e, err := Read(os.Environ())
	err = errors.Join(err, os.Unsetenv(upstreamHeaders), os.Unsetenv(controlToken))
	e.Vars = os.Environ()
	return e, err
}

// Read reads environ, a list of NAME=VALUE. The error joins one sentence for each
// value that is not allowed; the Env is usable all the same.
func Read(environ []string) (Env, error) {
	e, _, err := read(environ)
	return e, err
}

// Describe lists every variable with its value, default and meaning. Secret
// values are not shown.
func Describe(environ []string) []Var {
	_, vars, _ := read(environ)
	return vars
}

func read(environ []string) (Env, []Var, error) {
	given := lookup(environ)
	e := Env{Vars: environ}
	var vars []Var
	var errs []error
	for _, v := range table() {
		value, set := given[v.name]
		if value == "" {
			value, set = v.def, false
		}
		if value != "" {
			if err := v.read(&e, value); err != nil {
				errs = append(errs, fmt.Errorf("%s=%s: %w", v.name, v.shown(value), err))
				value, set = v.def, false
				_ = v.read(&e, v.def) // a default is always allowed, or the tests fail
			}
		}
		if v.secret && value != "" {
			value = "(set)"
		}
		vars = append(vars, Var{Name: v.name, Value: value, Default: v.def, Meaning: v.meaning, Set: set})
	}
	return e, vars, errors.Join(errs...)
}

// shown is a value as an error may show it.
func (v variable) shown(value string) string {
	if v.secret {
		return "(secret)"
	}
	return strconv.Quote(value)
}

func lookup(environ []string) map[string]string {
	given := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok {
			given[name] = value
		}
	}
	return given
}

func absolute(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find your home folder: %w", err)
		}
		path = filepath.Join(home, rest)
	}
	return filepath.Abs(path)
}

func httpURL(v string) (string, error) {
	if !strings.HasPrefix(v, "http://") && !strings.HasPrefix(v, "https://") {
		return "", errors.New("want an http:// or https:// URL")
	}
	return strings.TrimRight(v, "/"), nil
}

func boolean(v string) (bool, error) {
	switch v {
	case "1":
		return true, nil
	case "0":
		return false, nil
	}
	return false, errors.New("want 0 or 1")
}

func level(v string) (string, error) {
	switch v {
	case "auto", "process", "wasm":
		return v, nil
	}
	return "", errors.New("want auto, process or wasm")
}

func correlation(v string) (callIDs bool, err error) {
	switch v {
	case "call-id", "tool-use-id":
		return v == "call-id", nil
	}
	return false, errors.New("want tool-use-id or call-id")
}

func number(v string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("want a whole number from %d to %d", least, most)
	}
	return n, nil
}

func millis(v string, least, most int64) (time.Duration, error) {
	n, err := number(v, least, most)
	return time.Duration(n) * time.Millisecond, err
}
