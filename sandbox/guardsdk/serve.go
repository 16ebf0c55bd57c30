package guardsdk

import "io"

// Guard is a module's answers, one for each question it cares about. A question
// without an answer is allowed.
type Guard struct {
	Pin   func(Request) Verdict
	Value func(Request) Verdict
	Step  func(Request) Verdict
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
	req, err := decode(request)
	if err != nil {
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
