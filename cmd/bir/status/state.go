package status

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/bir-run/bir/cmd/bir/install"
	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/claude"
	"github.com/bir-run/bir/control/hosts/journal"
)

// State is what bir is doing in a project.
type State struct {
	Root      string `json:"root"`
	Installed bool   `json:"installed"`
	// Interrupted says that an install or uninstall did not come to its end.
	Interrupted bool             `json:"interrupted,omitempty"`
	Hooks       claude.HookState `json:"hooks"`
	Control     Control          `json:"controlServer"`
	Servers     []Server         `json:"servers"`
	Others      []File           `json:"otherClients,omitempty"`
	Places      hosts.Places     `json:"-"`
}

// Control is the control server: Problem says why it does not answer.
type Control struct {
	Running bool           `json:"running"`
	URL     string         `json:"url,omitempty"`
	Stopped bool           `json:"stopped,omitempty"` // by bir down
	Problem string         `json:"problem,omitempty"`
	Health  *client.Health `json:"health,omitempty"`
}

// Words for what a server's proxy is doing.
const (
	Registered = "registered" // right now
	Seen       = "seen"       // it was
	Never      = "never seen"
	Unwrapped  = "not wrapped"
)

// Server is one that Claude Code would start.
type Server struct {
	Name     string     `json:"name"`
	Scope    string     `json:"scope"`
	Wrapped  bool       `json:"wrapped"`
	Proxy    string     `json:"proxy"` // registered, seen, never seen, not wrapped
	LastSeen *time.Time `json:"lastSeen,omitempty"`
	Calls    int        `json:"calls"`
	Note     string     `json:"note,omitempty"`
	Ask      bool       `json:"ask,omitempty"`    // wrapped only for who names it
	Binary   string     `json:"binary,omitempty"` // of the proxy before it
	Stale    bool       `json:"stale,omitempty"`  // a copy, and what it is one of was changed
	Orphan   bool       `json:"orphan,omitempty"` // or removed
}

// File is one of another client, changed by an install in this project.
type File struct {
	Client  string   `json:"client"`
	Path    string   `json:"path"`
	Servers []string `json:"servers"`
}

const healthTimeout = 3 * time.Second

// Look finds out.
func Look(ctx context.Context, a *app.App) (State, error) {
	places, err := install.Places(a)
	if err != nil {
		return State{}, err
	}
	s := State{Root: places.Root, Places: places, Hooks: claude.FindHooks(places), Servers: []Server{}}
	j, err := journal.Read(a.Env.Home)
	if err != nil {
		return s, err
	}
	s.note(j.Projects[places.Root])
	s.Control = ask(ctx, a.Env.Home, places.Root)
	servers, err := claude.Host{}.Servers(places)
	if err != nil {
		return s, err
	}
	for _, server := range servers {
		s.Servers = append(s.Servers, s.server(server))
	}
	return s, nil
}

func (s *State) note(p *journal.Project) {
	if p == nil {
		return
	}
	s.Installed = true
	for _, f := range p.Files {
		s.Interrupted = s.Interrupted || f.Intent != nil
		if f.Host == claude.Name {
			continue
		}
		other := File{Client: f.Host, Path: f.Path}
		for _, c := range f.Changes {
			other.Servers = append(other.Servers, c.Server)
		}
		s.Others = append(s.Others, other)
	}
}

// ask asks the control server how it is.
func ask(ctx context.Context, home, root string) Control {
	c := Control{Stopped: locate.Stopped(home, root)}
	file, err := locate.Read(home, root)
	if errors.Is(err, fs.ErrNotExist) {
		return c
	}
	if err != nil {
		c.Problem = err.Error()
		return c
	}
	c.URL = file.URL
	link, err := client.New(file)
	if err != nil {
		c.Problem = err.Error()
		return c
	}
	defer link.Close()
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	health, err := link.Health(ctx)
	if err != nil {
		c.Problem = err.Error()
		return c
	}
	c.Running, c.Health = true, &health
	return c
}

// server says what one of them is doing.
func (s *State) server(found hosts.Server) Server {
	line := Server{Name: found.Name, Scope: found.Scope, Wrapped: found.Wrapped(), Proxy: Unwrapped, Note: found.Leave, Ask: found.Named, Stale: found.Stale}
	if !line.Wrapped {
		if line.Note == "" {
			line.Note = "bir install wraps it"
		}
		return line
	}
	line.Orphan = found.Stale && found.Copy == nil
	line.Binary, line.Proxy = found.Server.Proxy(), Never
	if found.Stale && line.Note == "" {
		line.Note = "the server that it is a copy of was changed"
	}
	if s.Control.Health == nil {
		return line
	}
	for _, p := range s.Control.Health.Proxies {
		if p.ServerName != found.Name {
			continue
		}
		line.Calls += p.Calls
		if line.LastSeen == nil || p.LastSeen.After(*line.LastSeen) {
			line.LastSeen = &p.LastSeen
		}
		if p.Alive {
			line.Proxy = Registered
		} else if line.Proxy == Never {
			line.Proxy = Seen
		}
	}
	return line
}
