package injectionguard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bir-run/bir/sandbox/guards/injectionguard"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// cases are a value, its recorded sample, and the code for each of the risks runs,
// writes and none; "" allows.
var cases = []struct{ name, value, sample, runs, writes, none string }{
	{"another region", `"us-east"`, `"eu-west"`, "", "", ""},
	{"the same value", `"a; b"`, `"a; b"`, "", "", ""},
	{"the same value, spelled otherwise", `"\u0061; b"`, `"a; b"`, "", "", ""},
	{"another name", `"Zoë"`, `"Anna"`, "", "", ""},
	{"another script", `"東京"`, `"Berlin"`, "", "", ""},
	{"more words where there were words", `"blue suede shoes"`, `"red shoes"`, "", "", ""},
	{"a path of the same form", `"/data/us-east/devices.json"`, `"/data/eu-west/devices.json"`, "", "", ""},
	{"an address", `"bob@example.org"`, `"alice@example.org"`, "", "", ""},
	{"prose", `"See (1) & \"2\"; $3"`, `"Any text, here"`, "metacharacter", "", ""},

	{"a second command", `"eu-west; rm -rf /"`, `"us-east"`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"a pipe", `"x|sh"`, `"us-east"`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"a background job", `"x&y"`, `"us-east"`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"a substitution", `"$(id)"`, `"us-east"`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"backticks", "\"`id`\"", `"us-east"`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"a redirect", `"x>y"`, `"us-east"`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"a closing quote", `"x' OR 'a'='a"`, `"us-east"`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"a typographic quote", `"x\u2019 OR"`, `"my words"`, "metacharacter", "", ""},
	{"a metacharacter that the sample has", `"c; d"`, `"a; b"`, "metacharacter", "", ""},
	{"an SQL comment", `"admin--"`, `"us-east"`, "metacharacter", "", ""},
	{"an SQL block comment", `"a/**/b"`, `"a/b"`, "metacharacter", "", ""},
	{"a backslash", `"a\\b"`, `"us-east"`, "metacharacter", "shape_identifier", "shape_identifier"},

	{"a line break", `"a\nb"`, `"us-east"`, "line_break", "line_break", "shape_identifier"},
	{"a line break in prose", `"a\nb"`, `"two words"`, "line_break", "line_break", ""},
	{"a carriage return in prose", `"a\rb"`, `"two words"`, "line_break", "line_break", ""},
	{"a line separator in prose", `"a\u2028b"`, `"two words"`, "line_break", "line_break", ""},
	{"a NUL in prose", `"a\u0000b"`, `"two words"`, "line_break", "line_break", ""},
	{"an escape", `"a\u001b[31m"`, `"us-east"`, "control_character", "shape_identifier", "shape_identifier"},
	{"a zero-width space", `"us\u200beast"`, `"us-east"`, "control_character", "shape_identifier", "shape_identifier"},
	{"a direction mark", `"us\u202eeast"`, `"us-east"`, "control_character", "shape_identifier", "shape_identifier"},
	{"a lone surrogate", `"us\ud800east"`, `"us-east"`, "control_character", "", ""},

	{"an option", `"-rf"`, `"us-east"`, "leading_dash", "", ""},
	{"a long option", `"--upload-pack=x"`, `"us-east"`, "metacharacter", "", ""},
	{"an option as a later word", `"a -o"`, `"a b"`, "leading_dash", "", ""},
	{"an option with a long dash", `"\u2013rf"`, `"us-east"`, "leading_dash", "", ""},
	{"an option where one was", `"-v"`, `"-q"`, "", "", ""},

	{"a space", `"us east"`, `"us-east"`, "shape_characters", "", ""},
	{"a tab where spaces were", `"a\tb"`, `"a b"`, "control_character", "", ""},
	{"a glob", `"us-*"`, `"us-east"`, "shape_characters", "", ""},
	{"braces", `"{a}"`, `"us-east"`, "shape_characters", "", ""},
	{"a parenthesis", `"f()"`, `"us-east"`, "shape_characters", "", ""},
	{"a home folder", `"~root"`, `"us-east"`, "shape_characters", "", ""},
	{"a Windows variable", `"%PATH%"`, `"us-east"`, "shape_characters", "", ""},
	{"an assignment", `"A=b"`, `"us-east"`, "shape_characters", "", ""},
	{"a file to upload", `"@passwd"`, `"us-east"`, "shape_characters", "", ""},

	{"a full-width semicolon", `"a\uff1bb"`, `"us-east"`, "lookalike", "", ""},
	{"full-width letters", `"\uff52\uff4d"`, `"us-east"`, "lookalike", "", ""},
	{"a Cyrillic letter among Latin ones", `"us-\u0435ast"`, `"us-east"`, "lookalike", "", ""},

	{"traversal from a bare name", `"../../etc"`, `"us-east"`, "shape_characters", "path_traversal", "path_traversal"},
	{"only two dots", `".."`, `"us-east"`, "path_traversal", "path_traversal", "path_traversal"},
	{"a sub-folder of a bare name", `"a/b"`, `"us-east"`, "shape_characters", "shape_identifier", "shape_identifier"},
	{"traversal in a path", `"/data/../etc/passwd"`, `"/data/eu/devices"`, "path_traversal", "path_traversal", "path_traversal"},
	{"traversal with backslashes", `"a\\..\\b"`, `"a\\b\\c"`, "metacharacter", "path_traversal", "path_traversal"},
	{"a relative path from the root", `"/etc/passwd"`, `"data/devices"`, "shape_path", "shape_path", "shape_path"},
	{"a relative path from a drive", `"c:/windows"`, `"data/devices"`, "shape_characters", "shape_path", "shape_path"},
	{"traversal as it was", `"../b"`, `"../a"`, "", "", ""},
	{"dots in a version", `"1.2..3"`, `"1.2.3"`, "", "", ""},

	{"another number", `7`, `42`, "", "", ""},
	{"a number as text", `"7"`, `42`, "shape_type", "shape_type", "shape_type"},
	{"text as a number", `7`, `"us-east"`, "shape_type", "shape_type", "shape_type"},
	{"a negative number", `-7`, `42`, "leading_dash", "", ""},
	{"a negative number where one was", `-7`, `-42`, "", "", ""},
	{"a fraction", `7.5`, `42`, "", "", ""},
	{"an exponent", `1e3`, `42`, "", "", ""},
	{"a number in a string", `"17"`, `"42"`, "", "", ""},
	{"a tautology for a number in a string", `"1 OR 1=1"`, `"42"`, "shape_type", "", ""},
	{"a word for a number in a string", `"true"`, `"42"`, "shape_type", "", ""},
	{"hexadecimal for a number in a string", `"0x2a"`, `"42"`, "shape_type", "", ""},
	{"a switch", `true`, `false`, "", "", ""},
	{"text as a switch", `"true"`, `false`, "shape_type", "shape_type", "shape_type"},
	{"null", `null`, `"us-east"`, "shape_type", "shape_type", "shape_type"},

	{"a list", `["us-east","eu-north"]`, `["eu-west"]`, "", "", ""},
	{"a bad element past the sample's", `["a","b","c;d"]`, `["a","b"]`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"a bad leaf deep down", `{"a":[{"b":"x;y"}]}`, `{"a":[{"b":"x"}]}`, "metacharacter", "shape_identifier", "shape_identifier"},
	{"a new key", `{"a":"x","b":"y"}`, `{"a":"x"}`, "shape_type", "shape_type", "shape_type"},
	{"a list for a string", `["x"]`, `"x"`, "shape_type", "shape_type", "shape_type"},
	{"an element without a sample", `["a b"]`, `[]`, "shape_characters", "", ""},
	{"not JSON", `{`, `"x"`, "unreadable_value", "unreadable_value", "unreadable_value"},
}

func TestValueIsAsFreeAsItsSampleAndNoFreer(t *testing.T) {
	for _, c := range cases {
		for risk, want := range map[guardsdk.Risk]string{"runs": c.runs, "writes": c.writes, "none": c.none} {
			t.Run(c.name+"/"+string(risk), func(t *testing.T) {
				v := injectionguard.Check(request(c.value, c.sample, risk))
				if v.Code != want || v.Allow != (want == "") {
					t.Errorf("%s for %s: got %+v, want %q", c.value, c.sample, v, want)
				}
			})
		}
	}
}

func TestUnknownRiskIsJudgedAsRuns(t *testing.T) {
	for _, risk := range []guardsdk.Risk{"", "reads"} {
		if v := injectionguard.Check(request(`"two words"`, `"one"`, risk)); v.Allow {
			t.Errorf("risk %q allows a space", risk)
		}
	}
}

func TestMissingSampleAllowsNoStructure(t *testing.T) {
	req := request(`"a b"`, "", "runs")
	if v := injectionguard.Check(req); v.Allow {
		t.Error("a space passed without a sample that has one")
	}
}

func TestReasonSaysWhichCharacterWhereAndWhatWouldDo(t *testing.T) {
	for _, c := range []struct {
		value, sample string
		risk          guardsdk.Risk
		want          string
	}{
		{`"us-east; id"`, `"eu-west"`, "runs", "parameter \"region\" has ; at character 8, which a shell or a query gives a meaning; accepted is a bare name"},
		{`"Zoë\u202e"`, `"Anna"`, "runs", "has U+202E at character 4, which is not seen"},
		{`"tomorrow"`, `"2026-11-30"`, "runs", "has another form than in the recording; accepted is a date or a time"},
		{`["a",{"b":"c\nd"}]`, `["a",{"b":"c"}]`, "writes", "at [1].b has a line break at character 2"},
		{`"https://b.example/x"`, `"https://a.example/x"`, "runs", "accepted is a URL of the same host"},
		{`"/data/x"`, `"/data/x/y"`, "runs", "accepted is a path from the same place and of the same depth"},
		{`"a%3Bb"`, `"a%20b"`, "runs", "has a percent escape that, once it is decoded, has ;"},
		{`"x y"`, `"x"`, "runs", "has a space at character 2, which it had not in the recording"},
	} {
		if v := injectionguard.Check(request(c.value, c.sample, c.risk)); !strings.Contains(v.Reason, c.want) {
			t.Errorf("%s: the reason is %q, want %q", c.value, v.Reason, c.want)
		}
	}
}

func TestMoreThanCanBeLookedAtIsRefused(t *testing.T) {
	deep := strings.Repeat("[", 60) + "1" + strings.Repeat("]", 60)
	wide := "[" + strings.Repeat("1,", 20_000) + "1]"
	long := `"` + strings.Repeat("x", 70<<10) + `"`
	for value, sample := range map[string]string{deep: strings.ReplaceAll(deep, "1", "2"), wide: "[2]", long: `"x"`} {
		if v := injectionguard.Check(request(value, sample, "runs")); v.Code != injectionguard.CodeTooLarge {
			t.Errorf("%.20s: %+v", value, v)
		}
		if v := injectionguard.Check(request(value, value, "runs")); !v.Allow {
			t.Errorf("%.20s is not as good as itself: %+v", value, v)
		}
	}
}

func TestReasonNamesTheParameterAndNotTheValue(t *testing.T) {
	for _, c := range cases {
		v := injectionguard.Check(request(c.value, c.sample, "runs"))
		var text string
		if v.Allow || json.Unmarshal([]byte(c.value), &text) != nil || len(text) < 5 {
			continue
		}
		if strings.Contains(v.Reason, text) {
			t.Errorf("the reason %q holds the value", v.Reason)
		}
		if v.Code != injectionguard.CodeUnreadable && !strings.Contains(v.Reason, `"region"`) {
			t.Errorf("the reason %q does not name the parameter", v.Reason)
		}
	}
}

// Whatever the value: an answer, the same one each time, and for text that is only
// letters an allowing one.
func FuzzCheck(f *testing.F) {
	for _, c := range cases {
		f.Add(c.value, c.sample)
	}
	f.Fuzz(func(t *testing.T, value, sample string) {
		for _, risk := range []guardsdk.Risk{"runs", "writes", "none"} {
			first := injectionguard.Check(request(value, sample, risk))
			if again := injectionguard.Check(request(value, sample, risk)); again != first {
				t.Fatalf("two answers: %+v and %+v", first, again)
			}
			if first.Allow == (first.Code != "") {
				t.Fatalf("verdict and code disagree: %+v", first)
			}
			if v := injectionguard.Check(request(value, value, risk)); !v.Allow && v.Code != injectionguard.CodeUnreadable {
				t.Fatalf("%q is not as good as itself: %+v", value, v)
			}
		}
		if v := injectionguard.Check(request(value, `"x"`, "runs")); v.Allow && strings.ContainsAny(value, ";|&`$<>") {
			var text string
			if json.Unmarshal([]byte(value), &text) == nil && strings.ContainsAny(text, ";|&`$<>") {
				t.Fatalf("allowed %q", text)
			}
		}
	})
}

func request(value, sample string, risk guardsdk.Risk) guardsdk.Request {
	return guardsdk.Request{
		ABI: guardsdk.ABI, Kind: guardsdk.KindValue, Parameter: "region",
		Value: json.RawMessage(value), Sample: json.RawMessage(sample), Plan: guardsdk.Plan{Risk: risk},
	}
}
