package main

import (
	"encoding/json"
	"testing"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

func TestWritesStayInTheFolder(t *testing.T) {
	for place, want := range map[string]bool{
		"/data/reports/a.md":        true,
		"/data/reports/x/../a.md":   true,
		"/data/reports/../secret":   false,
		"/data/reports-of-others/a": false,
		"reports/a.md":              false,
		`/data/reports/..\..\a`:     false,
	} {
		req := guardsdk.Request{Kind: guardsdk.KindStep, Tool: "write_file", Config: json.RawMessage(`{"folder":"/data/reports"}`),
			Strings: []guardsdk.String{{Path: "args.path", Value: place}, {Path: "args.content", Value: "/etc/passwd"}}}
		if got := check(req); got.Allow != want {
			t.Errorf("%s: %+v", place, got)
		}
	}
}

func TestWithoutSettingsNothingIsAllowed(t *testing.T) {
	for _, config := range []string{``, `{}`, `{"folder":"reports"}`, `[]`} {
		if got := check(guardsdk.Request{Tool: "read_file", Config: json.RawMessage(config)}); got.Code != "folder_settings" {
			t.Errorf("%s: %+v", config, got)
		}
	}
}
