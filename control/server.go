// Package control is the control server of one project: it takes what hooks and
// proxies report, within each route's time, and hands it to the book, which makes
// runs of it. It owns the routes, who may use them and when it ends; it never decides
// what belongs to which run, and never keeps a host waiting past a route's deadline.
//
//	bir-hooks ──► gate ──► hook route ──► Book.Hook     (past the deadline: {})
//	bir-proxy ──► gate ──► register, step ──► Book      poll ◄── Dispatch
//
// Why one server for hooks and proxies? A call of a wrapped server is seen by both.
// Two recorders would record it twice, and in no common order.
//
// Why is every Origin refused, one on loopback too? No page of bir asks this server
// anything, and what else is served on this machine is somebody's work in progress.
package control

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/recorder/api"
)

// Book makes runs of what is reported. Its methods may be called at once.
type Book interface {
	// Hook takes one hook event and answers what the host is told: "{}" mostly.
	Hook(ctx context.Context, name string, payload []byte) []byte
	Register(client.Register) client.Registered
	// Step takes a proxy's report; the same one again counts once.
	Step(client.StepReport) error
	Health() (steps int, open []client.OpenRun, proxies []client.Proxy, events []client.Seen)
	// Idle says that there is no open run, no live proxy and no live session.
	Idle(now time.Time) bool
}

// Config says what to serve.
type Config struct {
	Book    Book
	Root    string
	Version string
	Token   string        // which every request must bear
	Guards  func() string // Health.Guards; nil: none
	// Idle is how long Book.Idle must hold until the server ends; zero never ends it.
	Idle time.Duration
	// HandOver is called once a newer control server takes over, before the listeners
	// close: with the path of a socket that already listens in our place, or with "".
	HandOver func(socket string)
	Logger   *slog.Logger // nil discards
}

// Server answers hooks, proxies and the command line.
type Server struct {
	cfg     Config
	log     *slog.Logger
	started time.Time
	routes  map[string]route
	desk    *desk
	missed  missed
	hooks   sync.WaitGroup // hook events that are being applied

	ending ending
}

// New makes a server; Serve starts it.
func New(cfg Config) *Server {
	s := &Server{cfg: cfg, log: cfg.Logger, started: time.Now().UTC(), desk: newDesk(), ending: newEnding()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.routes = s.table()
	return s
}

// route is what a path takes.
type route struct {
	method string
	handle func(http.ResponseWriter, *http.Request) error
}

func (s *Server) table() map[string]route {
	routes := map[string]route{
		client.PathRegister:      {http.MethodPost, s.register},
		client.PathStep:          {http.MethodPost, s.step},
		client.PathPoll:          {http.MethodPost, s.poll},
		client.PathResult:        {http.MethodPost, s.result},
		client.PathDispatch:      {http.MethodPost, s.dispatch},
		client.PathScenarioHello: {http.MethodPost, s.scenarioHello},
		client.PathScenarioRun:   {http.MethodPost, s.scenarioRun},
		client.PathHealth:        {http.MethodGet, s.health},
		client.PathShutdown:      {http.MethodPost, s.shutdown},
	}
	for _, e := range event.All() {
		routes[e.Path] = route{http.MethodPost, s.hook(e)}
	}
	return routes
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.answer(w, r); err != nil {
		s.writeProblem(w, r, err)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) error {
	if err := s.admit(r); err != nil {
		return err
	}
	to, known := s.routes[r.URL.Path]
	switch {
	case !known:
		return api.Refuse(api.NotFound, "no route "+r.URL.Path)
	case r.Method != to.method:
		w.Header().Set("Allow", to.method)
		return api.Refuse(api.MethodNotAllowed, "allowed: "+to.method)
	}
	api.Bound(w, r)
	return to.handle(w, r)
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	h := client.Health{OK: true, PID: os.Getpid(), Version: s.cfg.Version, Root: s.cfg.Root, StartedAt: s.started}
	h.Steps, h.Runs, h.Proxies, h.Events = s.cfg.Book.Health()
	s.missed.addTo(h.Events)
	// Empty lists are lists, for those who read this with a script.
	h.Runs, h.Proxies, h.Events = listed(h.Runs), listed(h.Proxies), listed(h.Events)
	if s.cfg.Guards != nil {
		h.Guards = s.cfg.Guards()
	}
	return api.WriteJSON(w, http.StatusOK, h)
}

func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
