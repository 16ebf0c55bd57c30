package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlagsBecomeAConfig(t *testing.T) {
	for _, c := range []struct {
		args string
		want config
	}{
		{"-- npx -y @modelcontextprotocol/server-filesystem /data",
			config{Command: []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", "/data"}, ServerName: "filesystem"}},
		{"--server-name fleet --no-record -- server --server-name x",
			config{Command: []string{"server", "--server-name", "x"}, ServerName: "fleet", NoRecord: true}},
		{"--user-scope server", config{Command: []string{"server"}, ServerName: "server", UserScope: true}},
		{"--standalone server", config{Command: []string{"server"}, ServerName: "server", Standalone: true}},
	} {
		got, err := parseFlags(strings.Fields(c.args))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", c.args, err, diff)
		}
	}
}

func TestAUsageErrorIsOneSentence(t *testing.T) {
	for _, args := range [][]string{{}, {"--"}, {"--no-such-flag", "--", "x"}, {"--", ""}} {
		cfg, err := parseFlags(args)
		if err == nil {
			t.Errorf("%q was taken", args)
			continue
		}
		var out, errOut strings.Builder
		code := cfg.explain(err, &out, &errOut)
		if code != exitUsage || out.Len() > 0 || strings.Count(errOut.String(), "\n") != 1 {
			t.Errorf("%q: code %d, out %q, err %q", args, code, out.String(), errOut.String())
		}
	}
}

func TestHelpAndVersionGoToStandardOutput(t *testing.T) {
	for flag, want := range map[string]string{"-h": "Exit codes:", "--help": "Examples:", "--version": "bir-proxy " + version} {
		cfg, err := parseFlags([]string{flag})
		var out, errOut strings.Builder
		if code := cfg.explain(err, &out, &errOut); code != 0 || !strings.Contains(out.String(), want) || errOut.Len() > 0 {
			t.Errorf("%s: code %d, out %q, err %q", flag, code, out.String(), errOut.String())
		}
	}
}

func TestARefusedHeaderIsNotRepeated(t *testing.T) {
	for _, line := range []string{"SECRETVALUE", "Bad Name: SECRETVALUE", "Name: SECRET\nVALUE"} {
		_, err := parseFlags([]string{"--url", "http://127.0.0.1:1/mcp", "--header", line})
		if err == nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%q: %v", line, err)
		}
	}
}
