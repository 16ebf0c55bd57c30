package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

const (
	maxRequestBytes = 1 << 20 // of JSON, the flat list included
	maxDepth        = 100     // of nested arrays and objects
)

// complete checks a request and fills what the host adds to it.
func complete(req guardsdk.Request) (guardsdk.Request, error) {
	if !knownKind(req.Kind) {
		return req, fmt.Errorf("there is no kind of guard called %q", req.Kind)
	}
	req.ABI, req.Strings, req.Config = guardsdk.ABI, nil, nil
	for _, part := range partsOf(req) {
		if len(part.json) == 0 {
			continue
		}
		found, err := Flatten(part.name, part.json)
		if err != nil {
			return req, fmt.Errorf("its %s is not well formed: %w", part.name, err)
		}
		req.Strings = append(req.Strings, found...)
	}
	return req, nil
}

// part is a field that holds what bir did not write itself.
type part struct {
	name string
	json json.RawMessage
}

func partsOf(req guardsdk.Request) []part {
	return []part{{"value", req.Value}, {"sample", req.Sample}, {"args", req.Args}, {"modelArgs", req.ModelArgs}}
}

// Flatten lists every string value in a JSON value with its path from root, in
// order. Keys are part of the path: plain ones as .key, others as ["any key"].
// It refuses what two parsers might read differently: a key given twice, text that
// is not UTF-8, more than one value.
func Flatten(root string, data []byte) ([]guardsdk.String, error) {
	w := &walker{}
	if err := w.run(root, data); err != nil {
		return nil, err
	}
	return w.found, nil
}

// checkJSON refuses what Flatten refuses.
func checkJSON(data []byte) error {
	_, err := Flatten("", data)
	return err
}

type walker struct {
	dec     *json.Decoder
	found   []guardsdk.String
	numbers []string
}

func (w *walker) run(root string, data []byte) error {
	if !utf8.Valid(data) {
		return errors.New("not UTF-8")
	}
	w.dec = json.NewDecoder(bytes.NewReader(data))
	w.dec.UseNumber()
	if err := w.value(root, 0); err != nil {
		return err
	}
	if _, err := w.dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

func (w *walker) value(path string, depth int) error {
	token, err := w.dec.Token()
	if err != nil {
		return errNotJSON
	}
	switch t := token.(type) {
	case string:
		w.found = append(w.found, guardsdk.String{Path: path, Value: t})
	case json.Number:
		w.numbers = append(w.numbers, t.String())
	case json.Delim:
		if depth == maxDepth {
			return fmt.Errorf("nested more than %d deep", maxDepth)
		}
		if t == '[' {
			return w.array(path, depth+1)
		}
		return w.object(path, depth+1)
	}
	return nil
}

// errNotJSON stands for the decoder's own words, which quote the input.
var errNotJSON = errors.New("not JSON")

func (w *walker) array(path string, depth int) error {
	for i := 0; w.dec.More(); i++ {
		if err := w.value(path+"["+strconv.Itoa(i)+"]", depth); err != nil {
			return err
		}
	}
	return w.end()
}

func (w *walker) object(path string, depth int) error {
	seen := map[string]bool{}
	for w.dec.More() {
		token, err := w.dec.Token()
		key, isKey := token.(string)
		if err != nil || !isKey {
			return errNotJSON
		}
		if seen[key] {
			return errors.New("a key is given twice")
		}
		seen[key] = true
		if err := w.value(path+step(key), depth); err != nil {
			return err
		}
	}
	return w.end()
}

func (w *walker) end() error {
	if _, err := w.dec.Token(); err != nil {
		return errNotJSON
	}
	return nil
}

func step(key string) string {
	for _, r := range key {
		plain := r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !plain {
			return "[" + strconv.Quote(key) + "]"
		}
	}
	if key == "" {
		return `[""]`
	}
	return "." + key
}

// encode writes the request as modules get it, up to their own settings. Characters
// stay as they are, not as escapes, so that a plain search in the bytes finds them.
func encode(req guardsdk.Request) ([]byte, error) {
	req.Config = nil
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(req); err != nil {
		return nil, errNotJSON
	}
	if out.Len() > maxRequestBytes {
		return nil, fmt.Errorf("it has more than %d KiB, which no guard can be asked about", maxRequestBytes>>10)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}

// withConfig adds a module's own settings as the last field. The request is shared
// by all modules, and stays as it is.
func withConfig(request []byte, config json.RawMessage) []byte {
	if config == nil {
		return request
	}
	const field = `,"config":`
	out := make([]byte, 0, len(request)+len(field)+len(config))
	out = append(append(out, request[:len(request)-1]...), field...)
	return append(append(out, config...), '}')
}

// parseVerdict reads what a module answered. Only an object with a boolean "allow"
// is a verdict; fields that are not known are left to later versions.
func parseVerdict(answer []byte) (guardsdk.Verdict, error) {
	if err := checkJSON(answer); err != nil {
		return guardsdk.Verdict{}, err
	}
	var fields map[string]json.RawMessage // by exact name, where a struct would take any case
	if json.Unmarshal(answer, &fields) != nil || fields == nil {
		return guardsdk.Verdict{}, errors.New("not an object")
	}
	var v guardsdk.Verdict
	allow := string(fields["allow"])
	if allow != "true" && allow != "false" {
		return v, errors.New(`no "allow" with true or false`)
	}
	v.Allow = allow == "true"
	for name, field := range map[string]*string{"reason": &v.Reason, "code": &v.Code} {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, field) != nil {
			return guardsdk.Verdict{}, fmt.Errorf("%q is not a string", name)
		}
	}
	v.Reason, v.Code = printable(v.Reason, maxReasonRunes), printable(v.Code, maxCodeRunes)
	return v, nil
}

const (
	maxReasonRunes = 500
	maxCodeRunes   = 64
)

// printable keeps a module's text from steering a terminal or flooding a log.
func printable(text string, most int) string {
	runes := []rune(text)
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	for i, r := range runes {
		if !strconv.IsPrint(r) {
			runes[i] = ' '
		}
	}
	return string(runes)
}
