package guardcases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const good = `[{"id": "a", "request": {"kind": "step"}, "expect": {"allow": true}},
 {"request": {"kind": "value"}, "expect": {"allow": false, "code": "c"}}]`

func TestCasesAreReadFromAFileAndAFolder(t *testing.T) {
	path := write(t, "a.json", good)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "notes.txt"), []byte("no case"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{path, filepath.Dir(path)} {
		all, err := Load(from)
		if err != nil || len(all) != 2 || all[0].ID != "a" || all[1].Expect.Code != "c" {
			t.Errorf("%+v, %v", all, err)
		}
	}
}

func TestCaseThatIsWrongIsNamed(t *testing.T) {
	for text, names := range map[string]string{
		`{}`:   "list",
		`[{}]`: "expect",
		`[{"id":"x","request":{"kind":"step"},"expect":{}}]`:                             "allow",
		`[{"id":"x","request":{"kind":"steps"},"expect":{"allow":true}}]`:                `"steps"`,
		`[{"id":"x","request":{"kind":"step"},"expect":{"allow":true,"cod":"y"}}]`:       "cod",
		`[{"id":"x","request":{"kind":"step","arg":{}},"expect":{"allow":true}}]`:        "arg",
		"[{\"id\":\"x\",\n\"request\" {\"kind\":\"step\"},\"expect\":{\"allow\":true}}]": ":2:",
	} {
		path := write(t, "bad.json", text)
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), names) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: the error %v names neither the file nor %s", text, err, names)
		}
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a folder without cases passed")
	}
}

func TestDifferenceSaysWhatIsNotAsExpected(t *testing.T) {
	deny := guardsdk.Denied("c", "no")
	for _, c := range []struct {
		expect Expect
		got    guardsdk.Verdict
		same   bool
	}{
		{Expect{Allow: true}, guardsdk.Allowed(), true},
		{Expect{Allow: true}, deny, false},
		{Expect{}, deny, true},
		{Expect{Code: "c"}, deny, true},
		{Expect{Code: "d"}, deny, false},
		{Expect{}, guardsdk.Allowed(), false},
	} {
		if got := c.expect.Difference(c.got); (got == "") != c.same {
			t.Errorf("%+v and %+v: %q", c.expect, c.got, got)
		}
	}
}
