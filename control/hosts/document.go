package hosts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/journal"
	"github.com/bir-run/bir/control/hosts/jsonedit"
	"github.com/bir-run/bir/control/hosts/patch"
	"github.com/bir-run/bir/control/hosts/shape"
	"github.com/bir-run/bir/control/hosts/tomledit"
)

// entry opens a server's entry in a text.
func entry(format string, text []byte, path []string) (shape.Entry, error) {
	if format == TOML {
		d, err := tomledit.Parse(text)
		if err != nil {
			return nil, err
		}
		if e, ok := d.Entry(path...); ok {
			return e, nil
		}
		return nil, errGone
	}
	d, err := jsonedit.Parse(text)
	if err != nil {
		return nil, err
	}
	if e, ok := d.Entry(path...); ok {
		return e, nil
	}
	return nil, errGone
}

// errGone says that what was to be changed is not there.
var errGone = errors.New("is not there")

// step is a text after one change.
type step struct {
	text   []byte
	undo   patch.Patch
	change journal.Change
}

// do makes one change. It says false where the text has it already.
func do(format string, text []byte, s *shape.Shape, op Op) (step, bool, error) {
	if op.Kind == journal.Wrap {
		return wrap(format, text, s, op)
	}
	if format == Lines {
		return addLine(text, op)
	}
	if format != JSON {
		return step{}, false, fmt.Errorf("%w: no %s is set in TOML", jsonedit.ErrShape, op.Kind)
	}
	d, err := jsonedit.Parse(text)
	if err != nil {
		return step{}, false, err
	}
	c := journal.Change{Kind: op.Kind, Path: op.Path, Server: op.Server, Made: missing(d, containers(op.Kind, op.Path))}
	switch {
	case op.Secret:
		c.Sum = files.Hash(op.Value)
	case op.Server == "":
		c.Value = op.Value
	}
	var edits []patch.Edit
	switch at, there := d.Find(op.Path...); {
	case op.Kind == journal.Add:
		if there && has(at, op.Value) {
			return step{}, false, nil
		}
		edits, err = d.Add(op.Value, op.Path...)
	case there && same(at.Plain(), op.Value):
		return step{}, false, nil
	default:
		if there && op.Server == "" && !op.Secret {
			c.Old = at.Plain()
		}
		edits, err = d.Put(op.Value, op.Path...)
	}
	if err != nil {
		return step{}, false, err
	}
	return finish(text, edits, c)
}

func wrap(format string, text []byte, s *shape.Shape, op Op) (step, bool, error) {
	e, err := entry(format, text, op.Path)
	if err != nil {
		return step{}, false, err
	}
	server, err := s.Read(e)
	if err != nil {
		return step{}, false, err
	}
	if server.Wrapped() {
		return step{}, false, nil
	}
	was, err := s.Wrap(e, op.Wrap)
	if err != nil {
		return step{}, false, err
	}
	edits, err := e.Edits()
	if err != nil {
		return step{}, false, err
	}
	return finish(text, edits, journal.Change{Kind: journal.Wrap, Path: op.Path, Server: op.Server, Was: was})
}

// finish applies edits, and proves that they can be taken back before anybody writes
// anything.
func finish(text []byte, edits []patch.Edit, c journal.Change) (step, bool, error) {
	next, undo, err := patch.Apply(text, edits)
	if err != nil {
		return step{}, false, err
	}
	if back, err := undo.Undo(next); err != nil || !bytes.Equal(back, text) {
		return step{}, false, errors.New("the change could not be taken back")
	}
	return step{next, undo, c}, true, nil
}

// containers is the path to what an end of a change is in: a value in an object, an
// element in the array itself.
func containers(kind string, path []string) []string {
	if kind == journal.Add {
		return path
	}
	return path[:len(path)-1]
}

// missing counts how many of the containers of a path are not there.
func missing(d *jsonedit.Doc, path []string) int {
	for i := range path {
		if _, ok := d.Find(path[:i+1]...); !ok {
			return len(path) - i
		}
	}
	return 0
}

func has(array jsonedit.Node, value json.RawMessage) bool {
	for _, element := range array.Elements() {
		if same(element.Plain(), value) {
			return true
		}
	}
	return false
}

func same(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// undo takes one change back in a text in which others may have written. It returns
// the text as it is where nothing of the change is left.
func undo(format string, text []byte, s *shape.Shape, c journal.Change) ([]byte, error) {
	switch {
	case c.Kind == journal.Wrap:
		return unwrap(format, text, s, c)
	case format == Lines:
		return cutLine(text, last(c.Path)), nil
	}
	next, err := undoValue(text, s, c)
	above := containers(c.Kind, c.Path)
	for i := 0; i < c.Made && err == nil; i++ {
		next, err = dropEmpty(next, above[:len(above)-i])
	}
	return next, err
}

func unwrap(format string, text []byte, s *shape.Shape, c journal.Change) ([]byte, error) {
	e, err := entry(format, text, c.Path)
	if errors.Is(err, errGone) {
		return text, nil
	}
	if err != nil {
		return nil, err
	}
	server, err := s.Read(e)
	if err != nil || !server.Wrapped() {
		return text, nil // somebody else's by now
	}
	if err := s.Unwrap(e, c.Was); err != nil {
		return nil, err
	}
	edits, err := e.Edits()
	if err != nil {
		return nil, err
	}
	next, _, err := patch.Apply(text, edits)
	return next, err
}

// undoValue takes a value out that was put or added.
func undoValue(text []byte, s *shape.Shape, c journal.Change) ([]byte, error) {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return nil, err
	}
	at, ok := d.Find(c.Path...)
	if !ok {
		return text, nil
	}
	var edits []patch.Edit
	switch {
	case c.Kind == journal.Add:
		edits = cutElement(at, c.Value)
	case c.Server != "":
		e, isEntry := d.Entry(c.Path...)
		if !isEntry {
			return text, nil
		}
		if server, err := s.Read(e); err != nil || !server.Wrapped() {
			return text, nil // somebody else's by now
		}
		edits, err = d.Cut(c.Path...)
	case c.Sum != "" && files.Hash(at.Plain()) != c.Sum, c.Sum == "" && !same(at.Plain(), c.Value):
		return text, nil
	case c.Old != nil:
		edits, err = d.Put(c.Old, c.Path...)
	default:
		edits, err = d.Cut(c.Path...)
	}
	if err != nil {
		return nil, err
	}
	next, _, err := patch.Apply(text, edits)
	return next, err
}

// cutElement takes an element out that was added, also where somebody put what is in
// it beside elements of their own: a client's groups of hooks are merged by hand.
func cutElement(array jsonedit.Node, value json.RawMessage) []patch.Edit {
	var group struct {
		Hooks []json.RawMessage `json:"hooks"`
	}
	_ = json.Unmarshal(value, &group) // an element of another form has none
	for i, element := range array.Elements() {
		if same(element.Plain(), value) {
			return array.CutElement(i)
		}
		inner, ok := element.Member("hooks")
		if !ok || len(group.Hooks) != 1 {
			continue
		}
		for j, hook := range inner.Elements() {
			if same(hook.Plain(), group.Hooks[0]) {
				return inner.CutElement(j)
			}
		}
	}
	return nil
}

// dropEmpty cuts an object or array that is there and empty.
func dropEmpty(text []byte, path []string) ([]byte, error) {
	d, err := jsonedit.Parse(text)
	if err != nil {
		return nil, err
	}
	at, ok := d.Find(path...)
	if !ok || len(path) == 0 || !at.Empty() {
		return text, nil
	}
	edits, err := d.Cut(path...)
	if err != nil {
		return nil, err
	}
	next, _, err := patch.Apply(text, edits)
	return next, err
}
