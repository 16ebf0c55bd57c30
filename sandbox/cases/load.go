package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bir-run/bir/sandbox"
)

// Case is one body to run.
type Case struct {
	ID     string
	Body   sandbox.Body
	Args   sandbox.Args
	Expect *Expect // nil: only report what comes back
	Place  Place

	// Compare says how a result is not the expected one; nil is Diff.
	Compare func(want, got json.RawMessage) string
}

// Place is where a case has its expectation from. One that came from no file has
// none.
type Place struct {
	File  string
	Index int // in the file's list, from 0; Whole where the file is the value
}

// Whole is the index of a value that is all there is in its file.
const Whole = -1

// Expect is a value, or a type of error.
type Expect struct {
	Value json.RawMessage   `json:"value"`
	Error sandbox.ErrorType `json:"error"`
}

// entry is a case as files hold it.
type entry struct {
	ID     string          `json:"id"`
	Kind   sandbox.Kind    `json:"kind"`
	Body   *string         `json:"body"`
	Args   json.RawMessage `json:"args"`
	Expect json.RawMessage `json:"expect"`
}

// Load reads the cases of a file, or of a folder's *.json files in the order of
// their names. Its errors are one sentence that says which file and where.
func Load(path string) ([]Case, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, missing(path, err)
	}
	if !info.IsDir() {
		return loadFile(path)
	}
	files, err := filepath.Glob(filepath.Join(escapeGlob(path), "*.json"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no *.json file in this folder", path)
	}
	slices.Sort(files)
	var all []Case
	for _, file := range files {
		cases, err := loadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

func missing(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: no such file or folder", path)
	}
	var inner *os.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func loadFile(path string) ([]Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, missing(path, err)
	}
	var entries []entry
	if err := Decode(data, &entries); err != nil {
		return nil, fmt.Errorf("%s:%w", path, err)
	}
	cases := make([]Case, len(entries))
	for i, e := range entries {
		if cases[i], err = e.toCase(); err != nil {
			return nil, fmt.Errorf("%s: case %d%s: %w", path, i+1, named(e.ID), err)
		}
		cases[i].Place = Place{File: path, Index: i}
	}
	return cases, nil
}

func named(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", id)
}

func (e entry) toCase() (Case, error) {
	if e.Body == nil {
		return Case{}, errors.New("it has no body")
	}
	if !slices.Contains(Kinds(), e.Kind) {
		return Case{}, fmt.Errorf("kind is %q, not one of %s", e.Kind, kindList())
	}
	args, err := parseArgs(e.Kind, e.Args)
	if err != nil {
		return Case{}, err
	}
	expect, err := parseExpect(e.Expect)
	if err != nil {
		return Case{}, err
	}
	return Case{ID: e.ID, Body: sandbox.Body{Kind: e.Kind, Source: *e.Body}, Args: args, Expect: expect}, nil
}

// Kinds are the kinds of body that a case may have.
func Kinds() []sandbox.Kind {
	return []sandbox.Kind{
		sandbox.KindParams, sandbox.KindToolInput, sandbox.KindToolOutput, sandbox.KindResponseParams, sandbox.KindRaw,
	}
}

func kindList() string {
	var names []string
	for _, kind := range Kinds() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// expectable are the errors that a case can expect: not those of a sandbox that
// could not be used.
var expectable = []sandbox.ErrorType{
	sandbox.TypeTimeout, sandbox.TypeMemory, sandbox.TypeSyntax, sandbox.TypeThrow, sandbox.TypeResult,
}

func parseExpect(data json.RawMessage) (*Expect, error) {
	if len(data) == 0 || string(data) == "null" {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	expect := &Expect{}
	if err := dec.Decode(expect); err != nil {
		return nil, fmt.Errorf("expect is {\"value\":…} or {\"error\":…}: %w", err)
	}
	hasValue, hasError := expect.Value != nil, expect.Error != ""
	if hasValue == hasError {
		return nil, errors.New("expect has a value or an error, one of them")
	}
	if hasError && !slices.Contains(expectable, expect.Error) {
		return nil, fmt.Errorf("expect.error is %q, not one of timeout, memory, syntax, throw, result", expect.Error)
	}
	return expect, nil
}

// Decode reads one JSON value. Its errors begin with "line:column: ".
func Decode(data []byte, v any) error {
	if !utf8.Valid(data) {
		return at(data, invalidAt(data), errors.New("not UTF-8"))
	}
	err := json.Unmarshal(data, v)
	var syntax *json.SyntaxError
	var shape *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return at(data, int(syntax.Offset)-1, fmt.Errorf("not JSON: %w", err))
	case errors.As(err, &shape):
		return at(data, int(shape.Offset)-1, fmt.Errorf("a JSON %s stands where a %s belongs", shape.Value, shapeName(shape)))
	}
	return at(data, 0, err)
}

func shapeName(err *json.UnmarshalTypeError) string {
	switch name := err.Type.Kind().String(); name {
	case "slice":
		return "list"
	case "struct", "map":
		return "object"
	default:
		return name
	}
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, width := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && width == 1 {
			return i
		}
		i += width
	}
	return len(data)
}

// at prefixes an error with the line and column of an offset, counted from 1.
func at(data []byte, offset int, err error) error {
	before := data[:max(0, min(offset, len(data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Errorf("%d:%d: %w", line, column, err)
}
