package runs

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/correlate"
	"github.com/bir-run/bir/control/runs/machine"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/redact"
)

// Register takes in a proxy. It opens no run: the host starts servers for a moment
// only to list them, too.
func (b *Book) Register(r client.Register) client.Registered {
	now := b.cfg.Now()
	r.Server.Command = redact.Args(r.Server.Command)
	r.Server.URL = withoutSecrets(r.Server.URL)
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.proxies[r.ProxyID]
	if known == nil {
		known = &client.Proxy{}
		b.proxies[r.ProxyID] = known
	}
	known.Register, known.LastSeen, known.Alive = r, now, true
	b.applyLocked(machine.Event{Kind: machine.KindRegister, At: now, Proxy: &r})
	return client.Registered{Version: b.cfg.Version, CallIDs: b.cfg.CallIDs, FingerprintKey: b.cfg.FingerprintKey}
}

// withoutSecrets is a URL without its user and query.
func withoutSecrets(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// ErrReport is a report that says nothing.
var ErrReport = errors.New("a report needs an id and a tool")

// Step takes in what a proxy saw of a call. The same report twice counts once.
func (b *Book) Step(r client.StepReport) error {
	if r.ID == "" || r.ToolName == "" {
		return fmt.Errorf("%w", ErrReport)
	}
	if b.cfg.Off() {
		return nil
	}
	r = r.Clean() // the proxy did, if it is as old as this one
	r.Args, r.Result = tight(r.Args), tight(r.Result)
	now := b.cfg.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.proxies[r.ProxyID]; p != nil {
		p.LastSeen, p.Calls = now, p.Calls+1
	}
	b.applyLocked(machine.Event{Kind: machine.KindWire, At: now, Wire: &r, NewRun: recorder.NewID("run")})
	return nil
}

// Wrapped says whether a live proxy serves the server of that name.
func (b *Book) Wrapped(server string) bool {
	return b.some(func(p *client.Proxy) bool { return p.ServerName == server })
}

// serves says whether a live proxy serves a tool, as the host shows it.
func (b *Book) serves(tool string) bool {
	return b.some(func(p *client.Proxy) bool { return correlate.Serves(p.ServerName, tool) })
}

func (b *Book) some(which func(*client.Proxy) bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.proxies {
		if which(p) && b.cfg.Alive(p.PID) {
			return true
		}
	}
	return false
}
