package service

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/bir-run/bir/recorder/api"
)

// guard lets a request through only when it comes from a program of this user.
//
// Being on loopback is not enough: a web page can make the user's browser send
// requests here. Origin gives such a page away, Host gives away one that had its
// own name resolve to this machine, and it knows no token.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.admit(r); err != nil {
			s.writeProblem(w, r, err)
			return
		}
		api.Bound(w, r)
		next.ServeHTTP(w, r)
	})
}

func (s *server) admit(r *http.Request) error {
	if !loopback(r.Host) {
		return api.Refuse(api.HostNotAllowed, "use the address from the service file")
	}
	if r.Header.Get("Origin") != "" {
		return api.Refuse(api.OriginNotAllowed, "")
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) != 1 {
		return api.Refuse(api.Unauthorized, "the token is in the service file")
	}
	return nil
}

// loopback says whether hostport, with or without a port, names this machine.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// problemsForUnknown answers what matches no route with a problem document; the
// mux alone would answer with plain text.
func (s *server) problemsForUnknown(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		answer := &headerOnly{header: http.Header{}}
		handler.ServeHTTP(answer, r)
		if answer.status == http.StatusMethodNotAllowed {
			allow := answer.header.Get("Allow")
			w.Header().Set("Allow", allow)
			s.writeProblem(w, r, api.Refuse(api.MethodNotAllowed, "allowed: "+allow))
			return
		}
		s.writeProblem(w, r, api.Refuse(api.NotFound, "no route "+r.URL.Path))
	})
}

// headerOnly keeps an answer's status and header and drops its body.
type headerOnly struct {
	header http.Header
	status int
}

func (h *headerOnly) Header() http.Header         { return h.header }
func (h *headerOnly) WriteHeader(status int)      { h.status = status }
func (h *headerOnly) Write(p []byte) (int, error) { return len(p), nil }
