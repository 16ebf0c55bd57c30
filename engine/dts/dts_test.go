package dts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bir-run/bir/engine/dts"
	"github.com/google/go-cmp/cmp"
)

func TestDeclarationsSayWhatTheRecordingHeld(t *testing.T) {
	file := dts.File{
		Comment: []string{"What step 2 sees.", ""},
		Aliases: []dts.Alias{{Name: "Result", Doc: "What JSON.parse(toolOutput) gives.", Sample: json.RawMessage(`{
			"devices": [
				{"id": "a-1", "risk": 0.5, "owner": null},
				{"id": "a-2", "risk": 7, "owner": "ann", "tags": ["x", 1], "seen-at": true},
				{"id": "a-3", "risk": 7, "owner": "bob", "tags": []}
			],
			"empty": [],
			"none": {}
		}`)}},
		Variables: []dts.Variable{
			{Name: "params", Doc: "The parameters.", Sample: json.RawMessage(`{"region": "eu */ west"}`)},
			{Name: "toolOutput", Type: "string"},
		},
	}
	got, err := file.Write()
	if err != nil {
		t.Fatal(err)
	}
	want := `// What step 2 sees.
//

/** What JSON.parse(toolOutput) gives. */
type Result = {
  devices: {
    /** "a-1", "a-2", "a-3" */
    id: string;
    /** 0.5, 7 */
    risk: number;
    /** "ann", "bob" */
    owner: string | null;
    /** "x", 1 */
    tags?: (string | number)[];
    "seen-at"?: boolean;
  }[];
  empty: unknown[];
  none: Record<string, never>;
};

/** The parameters. */
declare const params: {
  /** "eu *\/ west" */
  region: string;
};

declare const toolOutput: string;
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestObjectsThatMapIdsAreDictionaries(t *testing.T) {
	entries := make([]string, 9)
	for i := range entries {
		entries[i] = fmt.Sprintf(`"dev-%d": {"load": %d%s}`, i, i, strings.Repeat(`, "spare": true`, i%2))
	}
	file := dts.File{Variables: []dts.Variable{{Name: "m", Sample: json.RawMessage("{" + strings.Join(entries, ",") + "}")}}}
	got, err := file.Write()
	if err != nil {
		t.Fatal(err)
	}
	want := `
declare const m: { [key: string]: {
  /** 0, 1, 2, 3, … */
  load: number;
  spare?: boolean;
} };
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHostileKeysAndSamplesStayInTheirPlace holds that no recorded text can end a
// comment, a string or a line of the file.
func TestHostileKeysAndSamplesStayInTheirPlace(t *testing.T) {
	sample, err := json.Marshal(map[string]string{"*/ let x; /*": "\n*/ declare const y: any; \u2028", "__proto__": "\"\u009b"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := dts.File{Variables: []dts.Variable{{Name: "v", Sample: sample}}}.Write()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(got) {
		line = strings.TrimSpace(line)
		comment := strings.HasPrefix(line, "/** ") && strings.Index(line, "*/") == len(line)-2
		if line != "" && !comment && !strings.HasPrefix(line, "declare const v: {") && line != "};" && !strings.HasSuffix(line, ": string;") {
			t.Errorf("unexpected line %q in\n%s", line, got)
		}
	}
	if strings.ContainsRune(got, '\u009b') {
		t.Errorf("a control character in %q", got)
	}
	if n := strings.Count(got, "\n"); n != 7 {
		t.Errorf("%d lines, want 7:\n%s", n, got)
	}
}

func TestWhatIsNoJSONIsAnError(t *testing.T) {
	if _, err := (dts.File{Variables: []dts.Variable{{Name: "v", Sample: json.RawMessage("{")}}}).Write(); err == nil {
		t.Error("no error")
	}
}
