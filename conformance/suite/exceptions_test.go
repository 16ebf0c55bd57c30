//go:build unix

package suite

import (
	"os/exec"
	"strings"
	"testing"
)

// exceptions are the checks that may end otherwise through bir, but not with a failure,
// by scenario and id, with the reason. Each was looked at by a person.
var exceptions = map[string]string{
	"sse-retry client-sse-retry-timing": "warns of a client that comes back 200 ms late, which on a busy machine each of the two runs may",
}

// leftOut are the client's scenarios that are not run, by prefix, with the reason. A
// server's are all run.
var leftOut = map[string]string{
	"auth/":     "a host signs in to the server it is configured with, which is bir on stdio; bir answers such a server's 401 with an error (R28)",
	"sep-2640-": "an extension, skills, that the official Go SDK's client does not have",
}

func TestNoScenarioIsForgotten(t *testing.T) {
	for _, suite := range []string{legacy, modern} {
		all := listed(t, suite)
		if len(all) < 20 {
			t.Errorf("%s lists only %d scenarios of a client", suite, len(all))
		}
		for _, name := range all {
			if _, run := scenarios[name]; run || isLeftOut(name) {
				continue
			}
			t.Errorf("%s: %s is neither run nor left out for a reason", suite, name)
		}
	}
}

func isLeftOut(name string) bool {
	for prefix := range leftOut {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// listed are the scenarios that a suite has for a client.
func listed(t *testing.T, suite string) (names []string) {
	t.Helper()
	text, err := exec.Command("node", append(append(shim(t), script(t, suite)), "list")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "Client scenarios")
	section, _, _ = strings.Cut(section, "\n\n")
	for line := range strings.Lines(section) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			names = append(names, strings.Fields(rest)[0])
		}
	}
	return names
}
