package daemon

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheServerGetsNoSecretOfItsStarter(t *testing.T) {
	got := Environment([]string{
		"PATH=/bin", "HOME=/home/u", "ANTHROPIC_API_KEY=sk-1", "AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=y",
		"BIR_AUTH_TOKEN=t", "BIR_AUTH_URL=http://s", "BIR_HOME=relative", "BIR_OFF=1", "BIR_UPSTREAM_HEADERS={}",
		"BIR_CONTROL_TOKEN=z", "BIR_CONTROL_URL=http://127.0.0.1:1", "LC_ALL=C", "https_proxy=http://p", "CLAUDE_CODE_SESSION_ID=s",
		"NODE_OPTIONS=--inspect", "LD_PRELOAD=x.so",
	}, "/h")
	want := []string{
		"PATH=/bin", "HOME=/home/u", "BIR_AUTH_TOKEN=t", "BIR_AUTH_URL=http://s", "BIR_HOME=relative", "LC_ALL=C", "https_proxy=http://p", "BIR_HOME=/h",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
