package control

import (
	"bytes"
	"errors"
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
	registered.Version, registered.Lists = s.cfg.Version, true
	s.desk.admit(proxy, time.Now())
	return api.WriteJSON(w, http.StatusOK, registered)
}

// step takes a report, or a list of them in the order in which their calls ended.
func (s *Server) step(w http.ResponseWriter, r *http.Request) error {
	body, err := api.ReadBody(r)
	if err != nil {
		return err
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) {
		return s.steps(w, body)
	}
	var report client.StepReport
	if err := api.Unmarshal(body, &report); err != nil {
		return err
	}
	if err := s.book(report); err != nil {
		return err
	}
	api.WriteText(w, "application/json", http.StatusOK, nothing)
	return nil
}

// steps takes each report of a list that can be taken: the others must not hold up
// those that come after them. A list that breaks off was taken in part, which does no
// harm: the same report counts once.
func (s *Server) steps(w http.ResponseWriter, body []byte) error {
	var reports []client.StepReport
	if err := api.Unmarshal(body, &reports); err != nil {
		return err
	}
	var taken client.Taken
	for i, report := range reports {
		var refused *api.Refusal
		err := s.book(report)
		if err != nil && !errors.As(err, &refused) {
			return err
		}
		if err != nil {
			taken.Refused = append(taken.Refused, client.Untaken{Index: i, Why: refused.Detail})
		}
	}
	return api.WriteJSON(w, http.StatusOK, taken)
}

// book hands a report to the book. One that says too little is refused.
func (s *Server) book(report client.StepReport) error {
	if report.ID == "" || report.ProxyID == "" || report.ToolName == "" {
		return api.Refuse(api.BadRequest, "id, proxyId and toolName are needed")
	}
	return s.cfg.Book.Step(report)
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
