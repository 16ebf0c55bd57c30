package control

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/bir-run/bir/recorder/api"
)

// admit lets a request through only when it comes from a program of this user.
//
// Being on loopback is not enough: a web page can make the user's browser send
// requests here. Origin gives such a page away, Host gives away one that had its own
// name resolve to this machine, and it knows no token.
func (s *Server) admit(r *http.Request) error {
	if !ourHost(r) {
		return api.Refuse(api.HostNotAllowed, "use the address from the discovery file")
	}
	if _, page := r.Header["Origin"]; page {
		return api.Refuse(api.OriginNotAllowed, "")
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(token), []byte(s.cfg.Token)) != 1 {
		return api.Refuse(api.Unauthorized, "the token is in the discovery file")
	}
	return nil
}

// ourHost says whether a request names this machine and the port that it came to. A
// Unix socket has neither: no name that a page could use leads to it.
func ourHost(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	if local.Network() == "unix" {
		return true
	}
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return false
	}
	_, ours, err := net.SplitHostPort(local.String())
	return err == nil && port == ours && (strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback())
}
