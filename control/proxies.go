package control

import (
	"net/http"
	"time"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder/api"
)

const maxPollWait = 25 * time.Second

func (s *Server) register(w http.ResponseWriter, r *http.Request) error {
	var proxy client.Register
	if err := api.ReadJSON(r, &proxy); err != nil {
		return err
	}
	if proxy.ProxyID == "" || proxy.ServerName == "" {
		return api.Refuse(api.BadRequest, "proxyId and serverName are needed")
	}
	registered := s.cfg.Book.Register(proxy)
	registered.Version = s.cfg.Version
	s.desk.admit(proxy, time.Now())
	return api.WriteJSON(w, http.StatusOK, registered)
}

func (s *Server) step(w http.ResponseWriter, r *http.Request) error {
	var report client.StepReport
	if err := api.ReadJSON(r, &report); err != nil {
		return err
	}
	if report.ID == "" || report.ProxyID == "" {
		return api.Refuse(api.BadRequest, "id and proxyId are needed")
	}
	if err := s.cfg.Book.Step(report); err != nil {
		return err
	}
	api.WriteText(w, "application/json", http.StatusOK, nothing)
	return nil
}

// poll holds a proxy's question until there is a call for it to make.
func (s *Server) poll(w http.ResponseWriter, r *http.Request) error {
	var p client.Poll
	if err := api.ReadJSON(r, &p); err != nil {
		return err
	}
	wait := maxPollWait
	if p.WaitMS > 0 {
		wait = min(wait, time.Duration(p.WaitMS)*time.Millisecond)
	}
	work, err := s.desk.poll(r.Context(), p.ProxyID, wait, s.ending.begun)
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, work)
}

func (s *Server) result(w http.ResponseWriter, r *http.Request) error {
	var result client.Result
	if err := api.ReadJSON(r, &result); err != nil {
		return err
	}
	if !s.desk.settle(result) {
		return api.Refuse(api.NotFound, "nobody waits for this call any more")
	}
	api.WriteText(w, "application/json", http.StatusOK, nothing)
	return nil
}

// dispatch lets a program of this user make a call through a live proxy.
func (s *Server) dispatch(w http.ResponseWriter, r *http.Request) error {
	var order client.DispatchOrder
	if err := api.ReadJSON(r, &order); err != nil {
		return err
	}
	if order.ServerName == "" || order.ToolName == "" {
		return api.Refuse(api.BadRequest, "serverName and toolName are needed")
	}
	result, err := s.Dispatch(r.Context(), order)
	if err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, result)
}

// A scenario is armed by a prompt that matched one. Until prompts are matched here
// there is none to run, and the tool that asks is told just that.

func (s *Server) scenarioHello(w http.ResponseWriter, r *http.Request) error {
	var hello client.ScenarioHello
	if err := api.ReadJSON(r, &hello); err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, client.ScenarioHelloed{OK: true})
}

func (s *Server) scenarioRun(w http.ResponseWriter, r *http.Request) error {
	var run client.ScenarioRun
	if err := api.ReadJSON(r, &run); err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, client.ScenarioRan{OK: false, Why: client.WhyNoPlan})
}
