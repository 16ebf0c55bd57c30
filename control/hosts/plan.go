package hosts

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/bir-run/bir/control/hosts/journal"
	"github.com/bir-run/bir/control/hosts/shape"
)

// Choice says which servers are to be wrapped, and with what.
type Choice struct {
	Proxy string   // path of bir-proxy
	Names []string // only these, and these also where one has to ask for it; empty: all
	// UserScope marks entries that other projects start, too.
	UserScope bool
}

// Plan says what has to change in which files for servers of one client to be wrapped.
// A server that is left, or is wrapped already, changes nothing.
func Plan(host string, servers []Server, c Choice) ([]Change, error) {
	for _, name := range c.Names {
		i := slices.IndexFunc(servers, func(s Server) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s has no server %q", host, name)
		}
		if s := servers[i]; !s.Wrapped() && !s.ToWrap(c.Names) {
			return nil, fmt.Errorf("server %q cannot be wrapped: %s", name, s.Leave)
		}
	}
	var changes []Change
	for _, s := range servers {
		if len(c.Names) > 0 && !slices.Contains(c.Names, s.Name) || !s.ToWrap(c.Names) {
			continue
		}
		i := slices.IndexFunc(changes, func(ch Change) bool { return ch.File == s.To.File })
		if i < 0 {
			i = len(changes)
			changes = append(changes, Change{Host: host, File: s.To.File, Format: s.To.Format, Shape: &s.To.Shape})
		}
		changes[i].Ops = append(changes[i].Ops, s.op(c))
	}
	return changes, nil
}

// ToWrap says whether a server is to be wrapped for one who named some.
func (s Server) ToWrap(names []string) bool {
	if s.Wrapped() {
		return s.Stale && s.Copy != nil
	}
	return s.Leave == "" || s.Named && slices.Contains(names, s.Name)
}

func (s Server) op(c Choice) Op {
	if s.Copy != nil {
		return Op{Kind: journal.Put, Path: s.To.Path, Server: s.Name, Value: s.Copy}
	}
	w := shape.Wrap{Proxy: c.Proxy, Name: s.Name, UserScope: c.UserScope && s.Scope == "user"}
	return Op{Kind: journal.Wrap, Path: s.To.Path, Server: s.Name, Wrap: w}
}

// Same says whether two texts are the same JSON value.
func Same(a, b json.RawMessage) bool { return same(a, b) }
