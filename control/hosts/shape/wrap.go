package shape

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// HeadersVar is the variable in which the proxy gets the headers of a remote server.
const HeadersVar = "BIR_UPSTREAM_HEADERS"

// Wrap is how a server is to be wrapped.
type Wrap struct {
	Proxy     string // path of bir-proxy
	Name      string
	UserScope bool // started in projects that nobody installed bir in
}

// Was is what a wrapped entry does not say of what it was before. It is kept, and so
// holds no credential.
type Was struct {
	AddedArgs bool   `json:"addedArgs,omitempty"`
	Kind      string `json:"kind,omitempty"`    // the value of the kind, if it was written
	URL       string `json:"url,omitempty"`     // key of the address of a remote server
	Headers   bool   `json:"headers,omitempty"` // a remote server had some
}

// Wrap asks an entry to be changed so that the proxy stands before the server.
func (s Shape) Wrap(e Entry, w Wrap) (Was, error) {
	server, err := s.Read(e)
	if err != nil {
		return Was{}, err
	}
	if server.Remote() {
		return s.wrapRemote(e, server, w)
	}
	words := append(w.flags(e), e.Quote("--"))
	command, _ := e.Get("command")
	if s.Joined {
		e.Prepend("command", append([]string{e.Quote(w.Proxy)}, words...))
		return Was{}, nil
	}
	e.Set("command", e.Quote(w.Proxy))
	words = append(words, command.Raw)
	if _, ok := e.Get("args"); ok {
		e.Prepend("args", words)
		return Was{}, nil
	}
	e.After("command", Member{"args", e.Array(words)})
	return Was{AddedArgs: true}, nil
}

func (w Wrap) flags(e Entry) []string {
	words := []string{e.Quote(nameFlag), e.Quote(w.Name)}
	if w.UserScope {
		words = append(words, e.Quote("--user-scope"))
	}
	return words
}

func (s Shape) wrapRemote(e Entry, server Server, w Wrap) (Was, error) {
	if _, ok := e.Get(s.Env); ok {
		return Was{}, fmt.Errorf("%w: it has an address and an environment", ErrUnknown)
	}
	was := Was{Kind: server.kind, URL: server.urlKey}
	if server.kind != "" {
		e.Set(s.Kind, e.Quote(s.Local[0]))
	}
	url, _ := e.Get(server.urlKey)
	words := append(w.flags(e), e.Quote("--url"), url.Raw, e.Quote("--transport"), e.Quote(server.Transport))
	command := []Member{{"command", e.Quote(w.Proxy)}, {"args", e.Array(words)}}
	if s.Joined {
		command = []Member{{"command", e.Array(append([]string{e.Quote(w.Proxy)}, words...))}}
	}
	e.Swap(server.urlKey, command, []string{url.Raw})
	headers, ok := e.Get(s.Headers)
	if !ok {
		return was, nil
	}
	was.Headers = true
	text, secrets, err := headerText(headers)
	if err != nil {
		return was, err
	}
	e.Swap(s.Headers, []Member{{s.Env, e.Table(HeadersVar, e.Quote(text))}}, secrets)
	return was, nil
}

// headerText is the headers as one JSON object, each value spelled as it was, and
// these spellings without their quotes.
func headerText(headers Value) (text string, secrets []string, err error) {
	var parts []string
	for _, name := range headers.Order {
		raw := headers.Members[name]
		body := strings.Trim(raw, raw[:1]) // the quotes, of whichever kind
		if len(raw) < 2 || len(body) != len(raw)-2 || !json.Valid([]byte(`"`+body+`"`)) {
			return "", nil, fmt.Errorf("%w: a header's value", ErrUnknown)
		}
		key, err := json.Marshal(name)
		if err != nil {
			return "", nil, err
		}
		parts = append(parts, string(key)+`:"`+body+`"`)
		secrets = append(secrets, body)
	}
	return "{" + strings.Join(parts, ",") + "}", secrets, nil
}

// Unwrap asks a wrapped entry to be changed back, whatever else was changed in it
// meanwhile.
func (s Shape) Unwrap(e Entry, was Was) error {
	server, err := s.Read(e)
	if err != nil {
		return err
	}
	if !server.Wrapped() {
		return fmt.Errorf("%w: bir-proxy does not stand before the server", ErrUnknown)
	}
	if i := slices.Index(server.Command, "--"); i > 0 && i+1 < len(server.Command) {
		return s.unwrapLocal(e, i, was)
	}
	return s.unwrapRemote(e, server, was)
}

// unwrapLocal takes out what comes before the server's command, which follows the
// word at i.
func (s Shape) unwrapLocal(e Entry, i int, was Was) error {
	if s.Joined {
		e.Shift("command", i+1)
		return nil
	}
	args, _ := e.Get("args") // one word less: the command is not among them
	e.Set("command", args.Elements[i])
	if was.AddedArgs && len(args.Elements) == i+1 {
		e.Drop("args")
		return nil
	}
	e.Shift("args", i+1)
	return nil
}

func (s Shape) unwrapRemote(e Entry, server Server, was Was) error {
	flags := flagsOf(server.Command)
	url := flags["--url"]
	if url == "" || was.URL == "" && len(s.URLs) == 0 {
		return fmt.Errorf("%w: there is neither a command nor an address after bir-proxy", ErrUnknown)
	}
	if was.URL == "" {
		was.URL = s.urlKey(flags["--transport"])
	}
	if was.Kind != "" {
		e.Set(s.Kind, e.Quote(was.Kind))
	}
	members := []Member{{was.URL, e.Quote(url)}}
	env, hasEnv := e.Get(s.Env)
	if hasEnv {
		headers, rest, err := s.splitEnv(e, env)
		if err != nil {
			return err
		}
		switch {
		case was.Headers && len(rest) == 0:
			e.Swap(s.Env, []Member{{s.Headers, headers}}, nil)
		case headers != "":
			members = append(members, Member{s.Headers, headers})
			e.Set(s.Env, tableOf(e, rest))
		}
	}
	e.Swap("command", members, nil)
	if !s.Joined {
		e.Drop("args")
	}
	return nil
}

// splitEnv takes the headers out of an environment.
func (s Shape) splitEnv(e Entry, env Value) (headers string, rest []Member, err error) {
	for _, name := range env.Order {
		if name != HeadersVar {
			rest = append(rest, Member{name, env.Members[name]})
			continue
		}
		object, _ := env.Any.(map[string]any)
		text, _ := object[HeadersVar].(string)
		values := map[string]string{}
		if err := json.Unmarshal([]byte(text), &values); err != nil { // whose error would show some of it
			return "", nil, fmt.Errorf("%w: %s", ErrUnknown, HeadersVar)
		}
		var members []Member
		for _, name := range slices.Sorted(maps.Keys(values)) {
			members = append(members, Member{name, e.Quote(values[name])})
		}
		headers = tableOf(e, members)
	}
	return headers, rest, nil
}

func tableOf(e Entry, members []Member) string {
	if len(members) == 0 {
		return "{}"
	}
	parts := make([]string, len(members))
	for i, m := range members {
		one := e.Table(m.Key, m.Raw)
		parts[i] = strings.TrimSpace(one[1 : len(one)-1])
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

func (s Shape) urlKey(transport string) string {
	for _, url := range s.URLs {
		if url.Transport == transport {
			return url.Key
		}
	}
	return s.URLs[0].Key
}

// flagsOf reads the proxy's flags that take a value.
func flagsOf(command []string) map[string]string {
	flags := map[string]string{}
	for i := 1; i+1 < len(command); i++ {
		if strings.HasPrefix(command[i], "--") && command[i] != "--user-scope" {
			flags[command[i]] = command[i+1]
			i++
		}
	}
	return flags
}
