package env

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestEveryDefaultIsAllowed(t *testing.T) {
	e, err := Read([]string{"HOME=/home/ada"})
	if err != nil {
		t.Fatal(err)
	}
	if e.LogicTimeout != time.Second || e.LogicMemoryBytes != 64<<20 || e.MaxMessageBytes != 128<<20 {
		t.Errorf("defaults = %+v", e)
	}
	if !filepath.IsAbs(e.Home) || !strings.HasSuffix(e.Home, ".baseinstrunner") {
		t.Errorf("Home = %q", e.Home)
	}
}

func TestBadValueIsNamedAndReplacedByTheDefault(t *testing.T) {
	for _, kv := range []string{
		"BIR_LOGIC_TIMEOUT_MS=10001", "BIR_LOGIC_TIMEOUT_MS=1s", "BIR_LOGIC_MEMORY_MB=-1",
		"BIR_OFF=yes", "BIR_AUTH_URL=ftp://x", "BIR_UPSTREAM_MAX_MESSAGE_BYTES=0",
	} {
		e, err := Read([]string{kv})
		name, value, _ := strings.Cut(kv, "=")
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), value) {
			t.Errorf("%s: error %v names neither key nor value", kv, err)
		}
		if e.LogicTimeout != time.Second || e.LogicMemoryBytes != 64<<20 || e.Off || e.AuthURL != "" {
			t.Errorf("%s: env = %+v, want the defaults", kv, e)
		}
	}
}

func TestDescribeHidesSecrets(t *testing.T) {
	for _, v := range Describe([]string{"BIR_AUTH_TOKEN=s3cr3t"}) {
		if strings.Contains(v.Value, "s3cr3t") {
			t.Errorf("%s shows its value", v.Name)
		}
		if v.Meaning == "" {
			t.Errorf("%s has no meaning", v.Name)
		}
	}
}

func TestHeadersForServersAreReadAndNeverShown(t *testing.T) {
	e, err := Read([]string{`BIR_UPSTREAM_HEADERS={"Authorization":"Bearer s3cr3t"}`})
	if err != nil || e.UpstreamHeaders["Authorization"] != "Bearer s3cr3t" || e.ConnectTimeout != 10*time.Second {
		t.Errorf("%v, %v", e.UpstreamHeaders, err)
	}
	for _, bad := range []string{`{"A":"s3cr3t"`, `["s3cr3t"]`, `{"A":"s3cr3t","B":7}`, "s3cr3t"} {
		e, err := Read([]string{"BIR_UPSTREAM_HEADERS=" + bad})
		if err == nil || strings.Contains(err.Error(), "s3cr3t") || e.UpstreamHeaders != nil {
			t.Errorf("%s: %v, %v", bad, e.UpstreamHeaders, err)
		}
	}
	for _, v := range Describe([]string{`BIR_UPSTREAM_HEADERS={"A":"s3cr3t"}`}) {
		if strings.Contains(v.Value, "s3cr3t") {
			t.Errorf("%s shows its value", v.Name)
		}
	}
}

func TestHeadersForServersLeaveTheEnvironment(t *testing.T) {
	t.Setenv("BIR_UPSTREAM_HEADERS", `{"A":"b"}`)
	e, err := Process()
	if _, there := os.LookupEnv("BIR_UPSTREAM_HEADERS"); there || err != nil || e.UpstreamHeaders["A"] != "b" {
		t.Errorf("still there: %v; %v, %v", there, e.UpstreamHeaders, err)
	}
	if strings.Contains(strings.Join(e.Vars, "\n"), "BIR_UPSTREAM_HEADERS") {
		t.Error("children would inherit it")
	}
}
