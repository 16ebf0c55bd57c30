package guardsdk

import "io"

// Handlers are a module's answers, one for each question it cares about. A question
// without an answer is allowed.
type Handlers struct {
	Pin   func(Request) Verdict
	Value func(Request) Verdict
	Step  func(Request) Verdict
}

// Command answers the one request that in holds. A guard calls it from main, with
// standard input and output: main runs in command form only, and when the guard is
// tried natively.
func (h Handlers) Command(in io.Reader, out io.Writer) error {
	request, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	_, err = out.Write(h.Answer(request))
	return err
}

// Answer turns a request into a verdict, both as JSON. A request it cannot read
// is denied. A panic in the guard's code is left to end the module, which the
// host takes as a denial.
func (h Handlers) Answer(request []byte) []byte {
	req, err := decode(request)
	if err != nil {
		return encode(Denied("bad_request", "the request is not JSON of the expected form"))
	}
	if req.ABI != ABI {
		return encode(Denied("bad_request", "the request is of another ABI"))
	}
	answer := h.answerTo(req.Kind)
	if answer == nil {
		return encode(Allowed())
	}
	return encode(answer(req))
}

func (h Handlers) answerTo(kind Kind) func(Request) Verdict {
	switch kind {
	case KindPin:
		return h.Pin
	case KindValue:
		return h.Value
	case KindStep:
		return h.Step
	}
	return nil
}
