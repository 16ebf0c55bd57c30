package guardsdk

import (
	"encoding/json"
	"io"
)

// Guard is a module's answers, one for each question it cares about. A question
// without an answer is allowed.
type Guard struct {
	Pin   func(Request) Verdict
	Value func(Request) Verdict
	Step  func(Request) Verdict
}

// served is what the module's exports answer with. It is a package variable
// because a wasm export is a plain function that carries no receiver.
var served Guard

// Serve makes g the module's guard and is called while the program initialises,
// since a reactor's main never runs:
//
//	var _ = guardsdk.Serve(guardsdk.Guard{Step: check})
//
//	func main() {}
//
// Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o my-rule.wasm .
func Serve(g Guard) Guard {
	served = g
	return g
}

// Command answers the one request that in holds, for guards in command form: call
// it from main with standard input and output.
func (g Guard) Command(in io.Reader, out io.Writer) error {
	request, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	_, err = out.Write(g.Answer(request))
	return err
}

// Answer turns a request into a verdict, both as JSON. A request it cannot read
// is denied. A panic in the guard's code is left to end the module, which the
// host takes as a denial.
func (g Guard) Answer(request []byte) []byte {
	var req Request
	if err := json.Unmarshal(request, &req); err != nil {
		return encode(Denied("bad_request", "the request is not JSON of the expected form"))
	}
	if req.ABI != ABI {
		return encode(Denied("bad_request", "the request is of another ABI"))
	}
	answer := g.answerTo(req.Kind)
	if answer == nil {
		return encode(Allowed())
	}
	return encode(answer(req))
}

func (g Guard) answerTo(kind Kind) func(Request) Verdict {
	switch kind {
	case KindPin:
		return g.Pin
	case KindValue:
		return g.Value
	case KindStep:
		return g.Step
	}
	return nil
}

func encode(v Verdict) []byte {
	data, err := json.Marshal(v)
	if err != nil { // two strings and a boolean: cannot happen, and must not allow
		return []byte(`{"allow":false,"code":"bad_verdict"}`)
	}
	return data
}
