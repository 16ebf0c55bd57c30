package env

import (
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
