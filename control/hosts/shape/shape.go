// Package shape knows how clients write one MCP server down, and how an entry is
// changed so that bir-proxy stands before its server, and back. It works on an Entry,
// which is JSON or TOML, and reads no file.
//
// Of a local server only two places change: the command is replaced, and the old one
// goes before the old arguments, spelled as it was. So what an entry was can be read
// from what it is, and no credential has to be kept anywhere to take bir out again.
package shape

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bir-run/bir/control/hosts/patch"
)

// Entry is one server's entry in a file. What is asked of it is collected until
// Edits.
type Entry interface {
	Get(key string) (Value, bool)
	Quote(s string) string // in the file's syntax
	// Array writes an array of values that are spelled already.
	Array(raws []string) string
	// Table writes a table with one member.
	Table(key, raw string) string

	Set(key, raw string)
	// Swap puts other members in the place of one. secrets are parts of the old one
	// that must not be kept.
	Swap(key string, with []Member, secrets []string)
	After(key string, m Member)
	Drop(key string)
	// Prepend puts elements before an array's own, and Shift takes them out.
	Prepend(key string, raws []string)
	Shift(key string, n int)

	Edits() ([]patch.Edit, error)
}

// Value is what an entry has under a key.
type Value struct {
	Raw      string
	Any      any      // as encoding/json reads it
	Elements []string // an array's, as they are spelled
	// Members are an object's values as they are spelled, by key, and Order its keys.
	Members map[string]string
	Order   []string
}

// Member is a key and the spelling of its value.
type Member struct{ Key, Raw string }

// Shape is how a client writes servers down.
type Shape struct {
	Servers []string // the path to the table of servers
	Joined  bool     // command and arguments are one array
	Kind    string   // the key that tells the kinds of servers apart; empty: none
	Local   []string // kinds of local servers, the one to write first
	Remote  map[string]string
	URLs    []URL
	Headers string
	Env     string
	// Own are keys by which the client signs in to a remote server itself. Strict says
	// that it takes no file in which a local server has one.
	Own    []string
	Strict bool
	// Off is a key that, with the value OffIs, says that a server is not to start.
	Off   string
	OffIs bool
}

// URL is a key under which a client writes an address.
type URL struct {
	Key       string
	Transport string // what it implies where no kind says more
}

// Server is what an entry says.
type Server struct {
	Command   []string
	URL       string
	Transport string // http or sse, of a remote one
	Headers   map[string]string
	Off       bool
	Own       string // the key by which the client signs in to it
	kind      string
	urlKey    string
}

// Remote says that the server is reached over HTTP.
func (s Server) Remote() bool { return s.URL != "" }

// ErrUnknown says that an entry is in no form that bir knows.
var ErrUnknown = errors.New("is written in a form that bir does not know")

// Read says what an entry is.
func (s Shape) Read(e Entry) (Server, error) {
	var server Server
	if kind, ok := e.Get(s.Kind); ok && s.Kind != "" {
		if server.kind, ok = kind.Any.(string); !ok {
			return server, ErrUnknown
		}
	}
	if off, ok := e.Get(s.Off); ok && s.Off != "" {
		value, ok := off.Any.(bool)
		server.Off = ok && value == s.OffIs
	}
	for _, url := range s.URLs {
		if v, ok := e.Get(url.Key); ok && server.urlKey == "" {
			server.URL, _ = v.Any.(string)
			server.urlKey, server.Transport = url.Key, url.Transport
		}
	}
	for _, key := range s.Own {
		if _, ok := e.Get(key); ok {
			server.Own = key
		}
	}
	_, local := e.Get("command")
	switch {
	case local && server.urlKey != "":
		return server, fmt.Errorf("%w: it has a command and an address", ErrUnknown)
	case local:
		return s.readLocal(e, server)
	case server.URL == "":
		return server, ErrUnknown
	}
	return s.readRemote(e, server)
}

func (s Shape) readLocal(e Entry, server Server) (Server, error) {
	if server.kind != "" && !slices.Contains(s.Local, server.kind) {
		return server, fmt.Errorf("%w: its %s is %q", ErrUnknown, s.Kind, server.kind)
	}
	command, _ := e.Get("command")
	args, hasArgs := e.Get("args")
	var ok bool
	if s.Joined {
		server.Command, ok = texts(command.Any)
		if !ok || len(server.Command) == 0 {
			return server, ErrUnknown
		}
		return server, nil
	}
	name, ok := command.Any.(string)
	if !ok || name == "" {
		return server, ErrUnknown
	}
	words, ok := texts(args.Any)
	if hasArgs && !ok {
		return server, fmt.Errorf("%w: its args are no list of strings", ErrUnknown)
	}
	server.Command = append([]string{name}, words...)
	return server, nil
}

func (s Shape) readRemote(e Entry, server Server) (Server, error) {
	if server.kind != "" {
		transport, ok := s.Remote[server.kind]
		if !ok {
			return server, fmt.Errorf("%w: its %s is %q", ErrUnknown, s.Kind, server.kind)
		}
		if transport != "" {
			server.Transport = transport
		}
	}
	if !strings.HasPrefix(server.URL, "http://") && !strings.HasPrefix(server.URL, "https://") {
		return server, fmt.Errorf("%w: its address is no http:// or https:// URL", ErrUnknown)
	}
	headers, ok := e.Get(s.Headers)
	if !ok {
		return server, nil
	}
	object, ok := headers.Any.(map[string]any)
	if !ok {
		return server, ErrUnknown
	}
	server.Headers = map[string]string{}
	for name, v := range object {
		if server.Headers[name], ok = v.(string); !ok {
			return server, fmt.Errorf("%w: its headers are not all strings", ErrUnknown)
		}
	}
	return server, nil
}

func texts(v any) ([]string, bool) {
	list, ok := v.([]any)
	words := make([]string, len(list))
	for i, element := range list {
		text, isText := element.(string)
		words[i], ok = text, ok && isText
	}
	return words, ok
}

const nameFlag = "--server-name"

// Wrapped says that bir-proxy stands before a server.
func (s Server) Wrapped() bool {
	return len(s.Command) > 2 && isProxy(s.Command[0]) && s.Command[1] == nameFlag
}

func isProxy(command string) bool {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return strings.EqualFold(strings.TrimSuffix(strings.ToLower(base), ".exe"), "bir-proxy")
}

// Proxy is the path of the bir-proxy that stands before a wrapped server.
func (s Server) Proxy() string { return filepath.Clean(s.Command[0]) }
