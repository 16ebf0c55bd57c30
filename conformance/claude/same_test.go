//go:build linux

package claude

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What differs between two sessions of the client alone, and so says nothing: ids, names
// of files that it makes up, and how long a subagent took. The commit holds a port.
var noise = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`\ba[0-9a-f]{16}\b`), "<agent>"},
	{regexp.MustCompile(`-blob-\d+-\w+\.`), "-blob-<name>."},
	{regexp.MustCompile(`[0-9a-f]{7} Vans`), "<commit> Vans"},
	{regexp.MustCompile(`duration_ms(: |>)\d+`), "duration_ms <n>"},
}

// sent is what the model was sent in a lab, without what differs from session to
// session: the bodies of the requests, thread by thread, since threads that run side by
// side ask in no order.
func (l *lab) sent() []string {
	var threads []string
	bodies := map[string][]string{}
	for _, r := range l.model.Asked() {
		if !slices.Contains(threads, r.Thread) {
			threads = append(threads, r.Thread)
		}
		bodies[r.Thread] = append(bodies[r.Thread], l.plain(string(r.Body)))
	}
	slices.Sort(threads)
	var all []string
	for _, thread := range threads {
		all = append(all, bodies[thread]...)
	}
	return all
}

// folderName matches what the client writes as a dash where a path names a folder of its own.
var folderName = regexp.MustCompile(`[^a-zA-Z0-9]`)

// plain replaces what differs from run to run.
func (l *lab) plain(text string) string {
	text = strings.ReplaceAll(text, l.dir, "<lab>")
	text = strings.ReplaceAll(text, folderName.ReplaceAllString(l.dir, "-"), "<lab>")
	for _, n := range noise {
		text = n.pattern.ReplaceAllString(text, n.with)
	}
	return text
}

// sameModel fails the test where the model was sent other bytes in one lab than in the
// other, but for what the mask is for.
func sameModel(t testing.TB, want, got *lab, mask *regexp.Regexp) {
	t.Helper()
	a, b := want.sent(), got.sent()
	if mask != nil {
		for _, all := range [][]string{a, b} {
			for i := range all {
				all[i] = mask.ReplaceAllString(all[i], "<masked>")
			}
		}
	}
	if len(a) != len(b) {
		t.Errorf("the model was asked %d times, and %d times without bir", len(b), len(a))
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("request %d differs from the one without bir:\n%s", i, cmp.Diff(lines(a[i]), lines(b[i])))
		}
	}
}

// lines lays a body out so that a difference can be read.
func lines(body string) []string {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return strings.Split(body, "\n")
	}
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return strings.Split(body, "\n")
	}
	return strings.Split(strings.ReplaceAll(string(text), `\n`, "\n"), "\n")
}
