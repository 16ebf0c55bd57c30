package sandbox

import (
	"encoding/json"
	"fmt"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/bir-run/bir/sandbox/wire"
)

// epoch is the time of a world that names none.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// request is the evaluation as the worker hears of it. Its errors are the caller's
// mistakes or limits, found before a worker is bothered.
func (c Config) request(body Body, args Args) (wire.Request, error) {
	named, err := args.named(body.Kind)
	if err != nil {
		return wire.Request{}, err
	}
	if err := c.check(body, named); err != nil {
		return wire.Request{}, err
	}
	req := wire.Request{
		Source:  body.Source,
		Args:    named,
		Plain:   body.Kind != KindRaw,
		Now:     args.World.Now,
		Zone:    args.World.Zone,
		Seed:    args.World.Seed,
		Timeout: c.timeout(body),
	}
	if req.Now.IsZero() {
		req.Now = epoch
	}
	req.Now = req.Now.UTC() // the zone of the world is Zone, whatever Now was read in
	if req.Zone == "" {
		req.Zone = "UTC"
	}
	return req, nil
}

// named are the arguments under the parameter names of their kind.
func (a Args) named(kind Kind) ([]wire.Arg, error) {
	params := wire.Arg{Name: "params", JSON: orEmptyObject(a.Params)}
	respParams := wire.Arg{Name: "respParams", JSON: orEmptyObject(a.RespParams)}
	switch kind {
	case KindParams:
		return []wire.Arg{params}, nil
	case KindToolInput, KindResponseParams:
		return []wire.Arg{params, respParams}, nil
	case KindToolOutput:
		return []wire.Arg{{Name: "toolOutput", Text: a.ToolOutput}, params, respParams}, nil
	case KindRaw:
		raw := make([]wire.Arg, len(a.Raw))
		for i, arg := range a.Raw {
			raw[i] = wire.Arg{Name: arg.Name, JSON: arg.Value}
		}
		return raw, nil
	}
	return nil, &Error{Type: TypeSandbox, Message: fmt.Sprintf("%q is no kind of body", kind)}
}

func orEmptyObject(value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return json.RawMessage("{}")
	}
	return value
}

var identifier = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$]*$`)

func (c Config) check(body Body, args []wire.Arg) error {
	if len(body.Source) > maxBodyBytes {
		return &Error{Type: TypeSyntax, Message: fmt.Sprintf("the body has %d bytes, at most %d allowed", len(body.Source), maxBodyBytes)}
	}
	if at := invalidUTF8(body.Source); at >= 0 {
		return &Error{Type: TypeSyntax, Message: fmt.Sprintf("the body is not UTF-8 at byte %d", at)}
	}
	var total int64
	for _, arg := range args {
		total += int64(len(arg.JSON) + len(arg.Text))
		if !identifier.MatchString(arg.Name) {
			return &Error{Type: TypeSandbox, Message: fmt.Sprintf("%q cannot be a parameter's name", arg.Name)}
		}
		if arg.JSON != nil && !json.Valid(arg.JSON) {
			return &Error{Type: TypeSandbox, Message: arg.Name + " is not JSON"}
		}
	}
	if total > c.ArgBytes {
		return &Error{Type: TypeSandbox, Message: fmt.Sprintf("the arguments have %d bytes, at most %d allowed", total, c.ArgBytes)}
	}
	return nil
}

// invalidUTF8 is where s stops being UTF-8, or -1.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, width := utf8.DecodeRuneInString(s[i:]); width == 1 {
				return i
			}
		}
	}
	return -1
}
