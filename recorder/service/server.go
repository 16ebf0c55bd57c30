package service

import (
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/recorder/api"
	"github.com/bir-run/bir/recorder/store"
)

// server answers the requests of one Run.
type server struct {
	store     store.Store
	evaluator engine.Evaluator
	log       *slog.Logger
	token     string
	version   string
	started   time.Time
	idle      *idleTimer

	stop     chan struct{} // closed when a request asked for the end
	stopOnce sync.Once
}

func newServer(cfg Config, st store.Store, token string) *server {
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &server{
		store:     st,
		evaluator: cfg.Evaluator,
		log:       log,
		token:     token,
		version:   cfg.Version,
		started:   time.Now().UTC(),
		idle:      newIdleTimer(cfg.Idle),
		stop:      make(chan struct{}),
	}
}

func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]func(http.ResponseWriter, *http.Request) error{
		"POST /recordings/runs":                      s.startRun,
		"GET /recordings/runs":                       s.listRuns,
		"GET /recordings/runs/{id}":                  s.showRun,
		"PATCH /recordings/runs/{id}":                s.changeRun,
		"DELETE /recordings/runs/{id}":               s.deleteRun,
		"POST /recordings/runs/{id}/steps":           s.addSteps,
		"PATCH /recordings/runs/{id}/steps/{stepID}": s.changeStep,
		"POST /recordings/runs/{id}/finish":          s.finishRun,
		"POST /recordings/runs/{id}/calculate":       s.calculate,
		"GET /recordings/runs/{id}/scenario":         s.scenarioOfRun,
		"GET /scenarios":                             s.listScenarios,
		"GET /scenarios/{id}":                        s.showScenario,
		"POST /scenarios/{id}/steps/{step}/check":    s.tryStep,
		"PATCH /scenarios/{id}/steps/{step}":         s.editStep,
		"GET /scenarios/{id}/edits":                  s.listEdits,
		"POST /scenarios/{id}/edits/{edit}/revert":   s.revertEdit,
		"GET /healthz":                               s.health,
		"POST /shutdown":                             s.shutdown,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := handle(w, r); err != nil {
				s.writeProblem(w, r, err)
			}
		})
	}
	return s.guard(s.idle.track(s.problemsForUnknown(mux)))
}

type health struct {
	OK        bool      `json:"ok"`
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
}

func (s *server) health(w http.ResponseWriter, _ *http.Request) error {
	return api.WriteJSON(w, http.StatusOK, health{OK: true, PID: os.Getpid(), Version: s.version, StartedAt: s.started})
}

// shutdown answers before the listener closes: the request itself is one of
// those under way.
func (s *server) shutdown(w http.ResponseWriter, _ *http.Request) error {
	s.stopOnce.Do(func() { close(s.stop) })
	return api.WriteJSON(w, http.StatusAccepted, struct {
		OK bool `json:"ok"`
	}{true})
}
