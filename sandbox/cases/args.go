package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bir-run/bir/sandbox"
)

// ParseArgs reads the arguments of a body from JSON. For the four kinds they are
// {"params":…, "respParams":…, "toolOutput":…}; for raw bodies any object, whose
// keys name the parameters in their order. No text at all stands for no arguments.
func ParseArgs(kind sandbox.Kind, text []byte) (sandbox.Args, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return sandbox.Args{}, nil
	}
	var value json.RawMessage
	if err := Decode(text, &value); err != nil {
		return sandbox.Args{}, err
	}
	return parseArgs(kind, value)
}

func parseArgs(kind sandbox.Kind, value json.RawMessage) (sandbox.Args, error) {
	if len(value) == 0 || string(value) == "null" {
		return sandbox.Args{}, nil
	}
	named, err := orderedObject(value)
	if err != nil {
		return sandbox.Args{}, err
	}
	if kind == sandbox.KindRaw {
		return sandbox.Args{Raw: named}, nil
	}
	var args sandbox.Args
	for _, arg := range named {
		switch arg.Name {
		case "params":
			args.Params = arg.Value
		case "respParams":
			args.RespParams = arg.Value
		case "toolOutput":
			args.ToolOutput = outputText(arg.Value)
		default:
			return sandbox.Args{}, fmt.Errorf("args has %q: only params, respParams and toolOutput are known", arg.Name)
		}
	}
	return args, nil
}

// outputText is a tool's output as a body gets it: text. A case may give the
// value that the text is JSON of.
func outputText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return string(value)
	}
	return compact.String()
}

// orderedObject reads an object with its keys in their order, which a map loses.
func orderedObject(value json.RawMessage) ([]sandbox.Arg, error) {
	dec := json.NewDecoder(bytes.NewReader(value))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("args is not an object")
	}
	var args []sandbox.Arg
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("args: %w", err)
		}
		arg := sandbox.Arg{Name: name.(string)} // an object's key is a string
		if err := dec.Decode(&arg.Value); err != nil {
			return nil, fmt.Errorf("args: %w", err)
		}
		args = append(args, arg)
	}
	return args, nil
}
