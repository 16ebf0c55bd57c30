// Command command is an example of a guard in command form: a program that reads
// one request and writes one verdict. It uses nothing but the standard library, so
// it can be copied anywhere, and any language that compiles to WASI can do the
// same. Build it with
//
//	GOOS=wasip1 GOARCH=wasm go build -o deny-us-east.wasm main.go
//
// It is asked every kind of question, so it must allow those it does not know.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

const region = "us-east"

type request struct {
	Kind    string `json:"kind"` // pin, value or step
	Strings []struct {
		Path  string `json:"path"`
		Value string `json:"value"`
	} `json:"strings"` // every string of the request, wherever it stands
}

type verdict struct {
	Allow  bool   `json:"allow"`
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func main() {
	if err := answer(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) // which denies
	}
}

func answer(in io.Reader, out io.Writer) error {
	var req request
	if err := json.NewDecoder(in).Decode(&req); err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(check(req))
}

func check(req request) verdict {
	for _, s := range req.Strings {
		// The sample is what was recorded, not what will be used.
		if s.Path != "sample" && strings.Contains(s.Value, region) {
			return verdict{Code: "region_denied", Reason: "the region " + region + " is not to be touched"}
		}
	}
	return verdict{Allow: true}
}
