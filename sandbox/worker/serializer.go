package worker

import (
	"errors"
	"strconv"
	"strings"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/dop251/goja"
)

// maxResultDepth is that of encoding/json, which reads the result next.
const maxResultDepth = 10_000

var errNoJSON = errors.New("the result has no JSON")

// serializer turns a result into JSON text with the JSON.stringify of before the
// body ran. A replacer of ours sees every value on its way: it counts bytes, so
// that a huge result ends early, and says where a value stands that JSON lacks.
type serializer struct {
	ev      *evaluation
	failure *wire.Failure
	bytes   int64
	path    []step
}

// step is one object on the way to the value at hand, and the key it lies under.
type step struct {
	object *goja.Object
	key    string
	index  bool
}

func (s *serializer) serialize(value goja.Value) (string, error) {
	vm := s.ev.vm
	// The checks read properties, so they run as a function of the guest: what
	// they set off is caught and interrupted like the body itself.
	guest, _ := goja.AssertFunction(vm.ToValue(func(goja.FunctionCall) goja.Value {
		if what := s.refused(value); what != "" {
			return s.fail(resultFailure(what))
		}
		text, err := s.ev.stringify(goja.Undefined(), value, vm.ToValue(s.replace))
		if err != nil {
			panic(err)
		}
		return text
	}))
	text, err := guest(goja.Undefined())
	if err != nil || s.failure != nil {
		return "", err
	}
	return s.finish(text)
}

func (s *serializer) finish(text goja.Value) (string, error) {
	if goja.IsUndefined(text) {
		return "null", nil
	}
	out := text.String()
	switch {
	case int64(len(out)) > s.ev.limits.ResultBytes:
		s.failure = s.tooLarge()
		return "", errNoJSON
	case s.ev.req.Plain && !strings.HasPrefix(out, "{"):
		s.failure = resultFailure("an object whose toJSON gives no plain object")
		return "", errNoJSON
	}
	return out, nil
}

// replace is JSON.stringify's replacer: this is the object that holds the value.
func (s *serializer) replace(call goja.FunctionCall) goja.Value {
	holder, _ := call.This.(*goja.Object)
	value := call.Argument(1)
	if s.ev.stopped.Load() != int32(notStopped) {
		return s.fail(s.ev.stopFailure(nil))
	}
	for len(s.path) > 0 && s.path[len(s.path)-1].object != holder {
		s.path = s.path[:len(s.path)-1]
	}
	here := step{key: call.Argument(0).String()}
	here.index = holder != nil && holder.ExportType() == arrayType
	s.count(here, value)
	if s.bytes > s.ev.limits.ResultBytes {
		return s.fail(s.tooLarge())
	}
	if problem := s.problem(value); problem != "" {
		return s.fail(resultFailure("a value that is no JSON: " + s.where(here) + " is " + problem))
	}
	if object, ok := value.(*goja.Object); ok {
		here.object = object
		s.path = append(s.path, here)
	}
	return value
}

// count adds the least that a value takes in the text: escapes only add to it.
func (s *serializer) count(here step, value goja.Value) {
	s.bytes += 2
	if !here.index {
		s.bytes += int64(len(here.key))
	}
	if text, ok := value.(goja.String); ok {
		s.bytes += int64(text.Length())
	}
}

// problem says what is wrong with a value, if anything is. A raw body's numbers
// follow JSON.stringify, as its corpora do.
func (s *serializer) problem(value goja.Value) string {
	switch {
	case goja.IsBigInt(value):
		return "a BigInt"
	case s.ev.req.Plain && goja.IsNaN(value):
		return "NaN"
	case s.ev.req.Plain && goja.IsInfinity(value):
		return "Infinity"
	}
	object, ok := value.(*goja.Object)
	if !ok {
		return ""
	}
	if len(s.path) >= maxResultDepth {
		return "nested more than " + strconv.Itoa(maxResultDepth) + " deep"
	}
	for i := range s.path {
		if s.path[i].object == object {
			return "a cycle: it refers back to " + s.where(s.path[i])
		}
	}
	return ""
}

// These keep a message short however deep the value lies.
const (
	maxWhereSteps = 12
	maxKeyBytes   = 80
)

func (s *serializer) where(last step) string {
	var b strings.Builder
	b.WriteString("result")
	for i := range s.path {
		if s.path[i].object == last.object && last.object != nil {
			break
		}
		if i > maxWhereSteps {
			b.WriteString("…")
			break
		}
		s.path[i].write(&b)
	}
	last.write(&b)
	return b.String()
}

func (st step) write(b *strings.Builder) {
	switch {
	case st.key == "": // the result itself
	case st.index:
		b.WriteString("[" + st.key + "]")
	default:
		b.WriteString("." + clip(st.key, maxKeyBytes))
	}
}

func (s *serializer) tooLarge() *wire.Failure {
	return resultFailure("a value of more than " + size(s.ev.limits.ResultBytes) + " of JSON")
}

// fail ends the serialising. No code of the body stands between here and the
// serializer that could catch it.
func (s *serializer) fail(failure *wire.Failure) goja.Value {
	s.failure = failure
	panic(s.ev.vm.ToValue("stop"))
}
