// Package guardcases reads requests with their expected verdicts from JSON files and
// says how a verdict differs from the expected one. It asks no guard itself.
package guardcases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bir-run/bir/sandbox/cases"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Case is one request and what a guard must say to it.
type Case struct {
	ID      string
	Request guardsdk.Request
	Expect  Expect
}

// Expect is a verdict. Without a code, any code will do.
type Expect struct {
	Allow bool
	Code  string
}

// entry is a case as files hold it.
type entry struct {
	ID      string           `json:"id"`
	Request guardsdk.Request `json:"request"`
	Expect  struct {
		Allow *bool  `json:"allow"`
		Code  string `json:"code"`
	} `json:"expect"`
}

// Load reads the cases of a file, or of a folder's *.json files in the order of
// their names. Its errors are one sentence that says which file and where.
func Load(path string) ([]Case, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return loadFile(path)
	}
	files, err := os.ReadDir(path) // sorted by name
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, file := range files {
		if file.IsDir() || filepath.Ext(file.Name()) != ".json" {
			continue
		}
		found, err := loadFile(filepath.Join(path, file.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if all == nil {
		return nil, fmt.Errorf("%s: no *.json file with a case in this folder", path)
	}
	return all, nil
}

func loadFile(path string) ([]Case, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := cases.Decode(data, &raw); err != nil {
		return nil, fmt.Errorf("%s:%w; a file of cases is a list of {\"id\", \"request\", \"expect\"}", path, err)
	}
	all := make([]Case, len(raw))
	for i, text := range raw {
		if all[i], err = parse(text); err != nil {
			return nil, fmt.Errorf("%s: case %d %s: %w", path, i+1, all[i].ID, err)
		}
	}
	return all, nil
}

// parse refuses unknown fields: a misspelt one would make a case that tests
// something else than its author thinks.
func parse(text []byte) (Case, error) {
	var e entry
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return Case{ID: e.ID}, err
	}
	if e.Expect.Allow == nil {
		return Case{ID: e.ID}, errors.New(`it has no "expect" with "allow": true or false`)
	}
	if !slices.Contains([]guardsdk.Kind{guardsdk.KindPin, guardsdk.KindValue, guardsdk.KindStep}, e.Request.Kind) {
		return Case{ID: e.ID}, fmt.Errorf("the request's kind is %q; allowed are pin, value and step", e.Request.Kind)
	}
	return Case{e.ID, e.Request, Expect{*e.Expect.Allow, e.Expect.Code}}, nil
}

// Difference says how a verdict is not the expected one, and nothing when it is.
func (e Expect) Difference(v guardsdk.Verdict) string {
	switch {
	case e.Allow != v.Allow && v.Reason != "":
		return fmt.Sprintf("expected to %s, and it says %s: %s", word(e.Allow), word(v.Allow), v.Reason)
	case e.Allow != v.Allow:
		return fmt.Sprintf("expected to %s, and it says %s", word(e.Allow), word(v.Allow))
	case e.Code != "" && e.Code != v.Code:
		return fmt.Sprintf("expected the code %s, and it is %s", e.Code, v.Code)
	}
	return ""
}

func word(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny"
}
