package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bir-run/bir/cmd/bir/status"
	"github.com/bir-run/bir/cmd/internal/app"
)

// client looks at Claude Code's configuration as Claude Code does, and holds what is
// written there against what reports to the control server.
func client(ctx context.Context, a *app.App) []Finding {
	s, err := status.Look(ctx, a)
	if err != nil {
		return []Finding{bad("client", err, "mend the file, or take what bir wrote out by hand")}
	}
	if !s.Installed && len(s.Hooks.Files) == 0 {
		return []Finding{{Check: "client", State: Note, Detail: "bir is not installed in " + s.Root, Fix: "bir setup"}}
	}
	var found []Finding
	if s.Interrupted {
		found = append(found, bad("client", errors.New("an install did not come to its end"), "bir install, or bir uninstall"))
	}
	found = append(append(found, hooks(a, s)...), controlServer(a, s)...)
	for _, server := range s.Servers {
		found = append(found, wrapped(a, s, server))
	}
	return append(found, events(s)...)
}

func hooks(a *app.App, s status.State) []Finding {
	binary, _ := a.Binary("bir-hooks") // that it is missing is said elsewhere
	switch h := s.Hooks; {
	case h.Off != "":
		return []Finding{bad("hooks", errors.New(h.Off), "allow them there; until then only tool calls of wrapped servers are recorded")}
	case len(h.Files) == 0:
		return []Finding{bad("hooks", errors.New("none is registered"), "bir install")}
	case len(h.Missing) > 0:
		return []Finding{bad("hooks", fmt.Errorf("%s: none for %s", strings.Join(h.Files, ", "), strings.Join(h.Missing, ", ")), "bir install")}
	case h.Binary != "" && !exists(h.Binary):
		return []Finding{bad("hooks", fmt.Errorf("%s is not there", h.Binary), "bir install")}
	case h.Binary != "" && h.Binary != binary:
		return []Finding{{Check: "hooks", State: Note, Detail: "they start " + h.Binary + ", not " + binary, Fix: "bir install"}}
	default:
		return []Finding{good("hooks", "%s, in %s", h.Kind, strings.Join(h.Files, ", "))}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func controlServer(a *app.App, s status.State) []Finding {
	c := s.Control
	switch {
	case c.Stopped:
		return []Finding{{Check: "control", State: Note, Detail: "stopped with bir down: sessions are recorded in pieces", Fix: "bir up"}}
	case c.Problem != "":
		return []Finding{bad("control", errors.New(c.Problem), "bir up --restart")}
	case !c.Running:
		return []Finding{{Check: "control", State: Note, Detail: "not running; the next session starts it", Fix: "bir up"}}
	case c.Health.Version != a.Version:
		return []Finding{{Check: "control", State: Note, Fix: "bir up --restart",
			Detail: fmt.Sprintf("process %d is version %s, this is %s", c.Health.PID, c.Health.Version, a.Version)}}
	case c.Health.Guards != "ready" && c.Health.Guards != "compiling":
		return []Finding{bad("control", fmt.Errorf("its guards: %s", c.Health.Guards), "bir guard list")}
	}
	found := []Finding{good("control", "process %d, %d steps since %s, guards %s",
		c.Health.PID, c.Health.Steps, c.Health.StartedAt.Format(time.DateTime), c.Health.Guards)}
	if s.Hooks.Kind == "http" && s.Hooks.URL != c.URL {
		found = append(found, bad("hooks", fmt.Errorf("they go to %s, the control server is at %s", s.Hooks.URL, c.URL), "bir up --restart"))
	}
	return found
}

// wrapped is one server. That a wrapped one reports is seen at the control server, and
// not believed of the configuration.
func wrapped(a *app.App, s status.State, server status.Server) Finding {
	name := "server"
	where := fmt.Sprintf("%s (%s)", server.Name, server.Scope)
	switch {
	case !server.Wrapped:
		f := Finding{Check: name, State: Note, Detail: where + " is not wrapped: " + server.Note}
		if server.Ask {
			f.Fix = "bir install --server " + server.Name
		}
		return f
	case server.Orphan:
		return bad(name, fmt.Errorf("%s: %s", where, server.Note), "claude mcp remove "+server.Name+" -s local")
	case server.Stale:
		return bad(name, fmt.Errorf("%s: %s", where, server.Note), "bir install")
	case server.Binary != "" && !exists(server.Binary):
		return bad(name, fmt.Errorf("%s starts %s, which is not there", where, server.Binary), "bir uninstall && bir install")
	case server.Proxy == status.Registered:
		return good(name, "%s is registered right now, %d calls", where, server.Calls)
	case server.Proxy == status.Seen:
		return good(name, "%s was last seen %s, %d calls", where, server.LastSeen.Format(time.DateTime), server.Calls)
	case !s.Control.Running:
		return Finding{Check: name, State: Note, Detail: where + " is wrapped; nobody runs to whom it could report"}
	}
	return Finding{Check: name, State: Note, Detail: where + " is wrapped and was never seen since the control server started",
		Fix: "start Claude Code in " + s.Root}
}

// events are the hook events that came.
func events(s status.State) []Finding {
	if s.Control.Health == nil {
		return nil
	}
	seen := s.Control.Health.Events
	if len(seen) == 0 {
		return []Finding{{Check: "events", State: Note, Detail: "no hook event came since the control server started", Fix: "start Claude Code in " + s.Root}}
	}
	var texts []string
	late := 0
	for _, e := range seen {
		texts = append(texts, fmt.Sprintf("%s %s", e.Event, e.Last.Format(time.TimeOnly)))
		late += e.Missed
	}
	slices.Sort(texts)
	if late > 0 {
		return []Finding{{Check: "events", State: Note, Detail: fmt.Sprintf("%d were answered too late; last: %s", late, strings.Join(texts, ", ")), Fix: "read the control server's log"}}
	}
	return []Finding{good("events", "last: %s", strings.Join(texts, ", "))}
}
