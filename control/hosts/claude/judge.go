package claude

import (
	"slices"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/shape"
)

// judge says why a server is to be left alone, if it is.
func judge(s *hosts.Server, o own, p policy, a answers) {
	var off []string
	o.project("disabledMcpServers", &off)
	switch why, byName := p.forbids(s.Name), has(off, s.Name); {
	case s.Leave != "":
	case why != "":
		s.Leave = why
	case byName:
		s.Leave = "is disabled in this project"
	case s.Scope == "project" && a.rejects(s.Name):
		s.Leave = "was rejected when Claude Code asked about it"
	case s.Wrapped():
	case s.Scope == "project" && !a.approves(s.Name):
		s.Leave, s.Named = "Claude Code has not asked you about it yet", true
	case s.Remote():
		s.Leave = s.SignsIn()
		s.Named = s.Leave != ""
	}
}

// place says where the wrapped entry goes. A local one is changed where it is, one of
// another scope is copied to the local one. Whether such a copy still says what the
// entry behind it does is looked at here, too.
func (h Host) place(s *hosts.Server, p hosts.Places, o own, behind []hosts.Server) error {
	if s.Scope == "local" {
		if s.Wrapped() && p.Copied != nil && p.Copied(s.At.File, s.At.Path) {
			return compare(s, behind, p)
		}
		return nil
	}
	if s.Wrapped() || s.Leave != "" && !s.Named || slices.Contains(h.InPlace, s.Scope) {
		return nil
	}
	plain, err := wrappedCopy(*s, p)
	if err != nil {
		s.Leave, s.Named = err.Error(), false
		return nil
	}
	s.To, s.Copy = hosts.Spot{File: o.file, Format: hosts.JSON, Shape: Shape, Path: append(o.local(), s.Name)}, plain
	return nil
}

func wrappedCopy(s hosts.Server, p hosts.Places) ([]byte, error) {
	plain, err := s.At.Entry()
	if err != nil {
		return nil, err
	}
	return hosts.WrappedCopy(plain, Shape, shape.Wrap{Proxy: p.Proxy, Name: s.Name})
}

// compare holds a copy against the entry that it is one of.
func compare(s *hosts.Server, behind []hosts.Server, p hosts.Places) error {
	i := slices.IndexFunc(behind, func(b hosts.Server) bool { return b.Name == s.Name && !b.Wrapped() })
	if i < 0 {
		s.Stale, s.Leave = true, "the server that it is a copy of is no longer configured"
		return nil
	}
	want, err := wrappedCopy(behind[i], p)
	if err != nil {
		s.Stale, s.Leave = true, "the server that it is a copy of "+err.Error()
		return nil
	}
	got, err := s.At.Entry()
	if err != nil {
		return err
	}
	s.Copy, s.Stale = want, !hosts.Same(got, want)
	return nil
}

func has(list []string, name string) bool { return slices.Contains(list, name) }
