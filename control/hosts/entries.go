package hosts

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/jsonedit"
	"github.com/bir-run/bir/control/hosts/patch"
	"github.com/bir-run/bir/control/hosts/shape"
	"github.com/bir-run/bir/control/hosts/tomledit"
)

// Reserved is the name of the server that bir itself is.
const Reserved = "bir"

// Entries reads the servers that a file has at table, in its order. One in a form
// that is not known comes with the reason to leave it. A file that is not there has
// none.
func Entries(file, format string, s shape.Shape, table []string) ([]Server, error) {
	f, err := files.Read(file)
	if err != nil {
		return nil, &Error{file, err}
	}
	if !f.Exists {
		return nil, nil
	}
	names, err := namesIn(f.Text, format, table)
	if err != nil {
		return nil, &Error{file, err}
	}
	var servers []Server
	for _, name := range names {
		at := Spot{File: file, Format: format, Shape: s, Path: append(slices.Clone(table), name)}
		server := Server{Name: name, At: at, To: at}
		e, err := entry(format, f.Text, at.Path)
		if err == nil {
			server.Server, err = s.Read(e)
		}
		switch {
		case errors.Is(err, errGone):
			server.Leave = shape.ErrUnknown.Error()
		case err != nil:
			server.Leave = err.Error()
		case name == Reserved:
			server.Leave = "the name is kept for bir's own server"
		case server.Off:
			server.Leave = "is switched off"
		case !server.Wrapped():
			server.Leave = whyNot(f.Text, at)
		}
		servers = append(servers, server)
	}
	return servers, nil
}

// whyNot tries to wrap an entry in memory, and says why that cannot be done.
func whyNot(text []byte, at Spot) string {
	_, _, err := wrap(at.Format, text, &at.Shape, Op{Path: at.Path, Wrap: shape.Wrap{Proxy: "bir-proxy", Name: at.Path[len(at.Path)-1]}})
	if err != nil {
		return err.Error()
	}
	return ""
}

func namesIn(text []byte, format string, table []string) ([]string, error) {
	if format == TOML {
		d, err := tomledit.Parse(text)
		if err != nil {
			return nil, err
		}
		if v, ok := d.Value(table...); ok {
			if _, isTable := v.(map[string]any); !isTable {
				return nil, jsonedit.ErrShape
			}
		}
		return d.Tables(table...), nil
	}
	d, err := jsonedit.Parse(text)
	if err != nil {
		return nil, err
	}
	at, ok := d.Find(table...)
	if !ok {
		return nil, nil
	}
	if at.Kind() != '{' {
		return nil, jsonedit.ErrShape
	}
	var names []string
	for name := range at.Members() {
		names = append(names, name)
	}
	return names, nil
}

// Entry is a server's entry as standard JSON.
func (s Spot) Entry() (json.RawMessage, error) {
	f, err := files.Read(s.File)
	if err != nil {
		return nil, err
	}
	d, err := jsonedit.Parse(f.Text)
	if err != nil {
		return nil, err
	}
	n, ok := d.Find(s.Path...)
	if !ok {
		return nil, errGone
	}
	return n.Plain(), nil
}

// WrappedCopy is the wrapped form of an entry, for another place than its own.
func WrappedCopy(plain json.RawMessage, s shape.Shape, w shape.Wrap) (json.RawMessage, error) {
	text := []byte(`{"x":` + string(plain) + `}`)
	d, err := jsonedit.Parse(text)
	if err != nil {
		return nil, err
	}
	e, ok := d.Entry("x")
	if !ok {
		return nil, shape.ErrUnknown
	}
	if _, err := s.Wrap(e, w); err != nil {
		return nil, err
	}
	edits, err := e.Edits()
	if err != nil {
		return nil, err
	}
	for i := range edits {
		edits[i].Secrets = nil // nothing is taken back here: the original stays
	}
	next, _, err := patch.Apply(text, edits)
	if err != nil {
		return nil, err
	}
	if d, err = jsonedit.Parse(next); err != nil {
		return nil, err
	}
	n, _ := d.Find("x")
	return n.Plain(), nil
}
