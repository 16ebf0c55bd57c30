package control

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder/api"
)

// The codes that only the control server has.
const (
	CodeUnknownProxy   api.Code = client.CodeUnknownProxy
	CodeNoProxy        api.Code = "no_proxy"
	CodeAmbiguousProxy api.Code = "ambiguous_proxy"
	CodeNoAnswer       api.Code = "no_answer"
	CodeEnding         api.Code = "ending"
)

// problems says how codes and errors appear outside.
var problems = api.Table{
	Kinds: map[api.Code]api.Kind{
		CodeUnknownProxy:   {Status: http.StatusNotFound, Title: "the proxy has not registered here"},
		CodeNoProxy:        {Status: http.StatusConflict, Title: "no proxy takes calls for this server; nothing was sent"},
		CodeAmbiguousProxy: {Status: http.StatusConflict, Title: "several proxies take calls for this server; nothing was sent"},
		CodeNoAnswer:       {Status: http.StatusGatewayTimeout, Title: "the call was handed out and did not answer in time; it may have run"},
		CodeEnding:         {Status: http.StatusServiceUnavailable, Title: "the control server is ending"},
		api.Internal:       {Status: http.StatusInternalServerError, Title: "the control server failed"},
	},
	Causes: []api.Cause{
		{Err: ErrUnknownProxy, Code: CodeUnknownProxy},
		{Err: ErrNoProxy, Code: CodeNoProxy},
		{Err: ErrAmbiguousProxy, Code: CodeAmbiguousProxy},
		{Err: ErrNoAnswer, Code: CodeNoAnswer},
		{Err: ErrEnding, Code: CodeEnding},
	},
}

// writeProblem answers with err and logs what the caller cannot mend.
func (s *Server) writeProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problems.Problem(problems.Refusal(err))
	if p.Code == api.Internal && !errors.Is(err, context.Canceled) {
		s.log.LogAttrs(r.Context(), slog.LevelError, "control.request_failed", slog.String("path", r.URL.Path), slog.Any("error", err))
	}
	p.Write(w)
}
