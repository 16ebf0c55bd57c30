package redact

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// secrets are values of every shape, none of them real. They are put together
// here so that no scanner of this tree takes one for a leak.
var secrets = map[string]string{
	"jwt":         "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N",
	"openai":      "sk-" + "proj-a1b2C3d4E5f6G7h8",
	"anthropic":   "sk-" + "ant-api03-AbCdEf123456_-xyz",
	"long key":    "sk-" + "abcdefghijklmnopqrstuvwx",
	"aws":         "AKIA" + "IOSFODNN7EXAMPLE",
	"google":      "AIza" + "SyA-1234567890abcdefghijklmnopqrstu",
	"github":      "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
	"github fine": "github_pat_" + "11ABCDEFG0123456789_abcdefghijk",
	"gitlab":      "glpat-" + "ABCdef123456GHIjkl78",
	"slack":       "xoxb-" + "123456789012-abcdefGHIJKL",
	"stripe":      "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
}

func TestShapesAreFoundAnywhere(t *testing.T) {
	for name, secret := range secrets {
		t.Run(name, func(t *testing.T) {
			for _, text := range []string{secret, "use " + secret + " please", "a=" + secret + "&b", "(" + secret + ")", "\n" + secret + "\n"} {
				if got := Text(text); strings.Contains(got, secret) || !strings.Contains(got, markPrefix) {
					t.Errorf("Text(%q) = %q", text, got)
				}
				raw, _ := json.Marshal(map[string]any{"a": []string{text}})
				if got := string(JSON(raw)); strings.Contains(got, secret) || !json.Valid([]byte(got)) {
					t.Errorf("JSON(%s) = %s", raw, got)
				}
			}
		})
	}
}

func TestText(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("ada:lovelace"))
	for _, c := range []struct{ name, in, want string }{
		{"bearer in prose", "send Bearer abc123def456 along", "send Bearer [redacted:bearer] along"},
		{"bearer alone", "Bearer plainword", "Bearer [redacted:bearer]"},
		{"bearer as a word", "the bearer authentication scheme", "the bearer authentication scheme"},
		{"basic", "x Basic " + basic + " y", "x Basic [redacted:basic] y"},
		{"basic as a word", "Basic programming", "Basic programming"},
		{"header line", "GET /\r\nAuthorization: Digest username=\r\nAccept: */*", "GET /\r\nAuthorization: [redacted]\r\nAccept: */*"},
		{"header of curl", `curl -H "X-Api-Key: abc" https://e.com`, `curl -H "X-Api-Key: [redacted]" https://e.com`},
		{"url", "https://ada:lovelace@e.com/x?a@b", "https://ada:[redacted]@e.com/x?a@b"},
		{"url without password", "https://ada@e.com:80/x@y", "https://ada@e.com:80/x@y"},
		{"url with port only", "http://e.com:8080/a@b", "http://e.com:8080/a@b"},
		{"database url", "postgres://app:p/w#1@db:5432/x", "postgres://app:[redacted]@db:5432/x"},
		{"database url without password", "postgres://db:5432/x?u=a@b", "postgres://db:5432/x?u=a@b"},
		{"connection string", "Server=db;User Id=sa;Password=hunter2;Pwd=x1;", "Server=db;User Id=sa;Password=[redacted];Pwd=[redacted];"},
		{"query", "https://e.com/?access_token=abc&page=2", "https://e.com/?access_token=[redacted]&page=2"},
		{"signed url", "https://e.com/?se=1&sig=abc%3D", "https://e.com/?se=1&sig=[redacted]"},
		{"shell", "export GITHUB_TOKEN=abc PWD=/home/ada", "export GITHUB_TOKEN=[redacted] PWD=/home/ada"},
		{"shell variable", `curl -d token=$TOKEN --token "$T"`, `curl -d token=$TOKEN --token "$T"`},
		{"flag", "cli --api-key abc --max-tokens 5", "cli --api-key [redacted] --max-tokens 5"},
		{"flag with equals", "cli --password=abc x", "cli --password=[redacted] x"},
		{"yaml", "user: ada\npassword: hunter2\n", "user: ada\npassword: [redacted]\n"},
		{"code literal", `const apiKey = "abcdef"`, `const apiKey = "[redacted]"`},
		{"code", "token = getToken(); password: string; f(token=self.token)", "token = getToken(); password: string; f(token=self.token)"},
		{"json in prose", `got {"password":"hunter2"} back`, `got {"password":"[redacted]"} back`},
		{"json in a shell word", `curl -d "{\"password\":\"hunter2\"}"`, `curl -d "{\"password\":\"[redacted]\"}"`},
		{"class names", "task-force-a1b2c3d4e5 sk-folding-cube-child", "task-force-a1b2c3d4e5 sk-folding-cube-child"},
		{"pem", "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nend", "[redacted:pem]\nend"},
		{"pem cut off", "x -----BEGIN PRIVATE KEY-----\nMII", "x [redacted:pem]"},
		{"certificate", "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----", "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"},
		{"list that is no json", "[sk-" + "a1b2c3d4e5f6]", "[[redacted:key]]"},
		{"log lines", `{"token":"a"}` + "\n" + `{"token":"b"}`, `{"token":"[redacted]"}` + "\n" + `{"token":"[redacted]"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Text(c.in)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if again := Text(got); again != got {
				t.Errorf("a second pass gives %q", again)
			}
		})
	}
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"number text stays", `{"a":9007199254740993,"b":1.0,"c":-0,"d":1e400,"password":"x"}`,
			`{"a":9007199254740993,"b":1.0,"c":-0,"d":1e400,"password":"[redacted]"}`},
		{"space and order stay", "{ \"z\" : 1 ,\n\t\"secret\" : \"x\" , \"a\":\"\\u00e9\\/\" }", "{ \"z\" : 1 ,\n\t\"secret\" : \"[redacted]\" , \"a\":\"\\u00e9\\/\" }"},
		{"under a secret key", `{"credentials":{"user":"ada","pin":1,"on":true,"n":null,"more":["x"]}}`,
			`{"credentials":{"user":"[redacted]","pin":"[redacted]","on":true,"n":null,"more":["[redacted]"]}}`},
		{"counts stay", `{"usage":{"tokens":5,"token":"a","cookies":3}}`, `{"usage":{"tokens":5,"token":"[redacted]","cookies":3}}`},
		{"numeric password", `{"password":1234}`, `{"password":"[redacted]"}`},
		{"env object", `{"env":{"A":"x","B":1,"C":true,"D":{"E":"y"}},"z":1}`,
			`{"env":{"A":"[redacted]","B":"[redacted]","C":"[redacted]","D":{"E":"[redacted]"}},"z":1}`},
		{"env list", `{"Env":["A=x","B"]}`, `{"Env":["[redacted]","[redacted]"]}`},
		{"env name", `{"env":"production"}`, `{"env":"production"}`},
		{"escaped key", `{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"[redacted]"}`},
		{"escaped value", `{"a":"\u00e9 \u0073k-a1b2c3d4e5f6 \ud83d\ude00"}`, `{"a":"\u00e9 [redacted:key] \ud83d\ude00"}`},
		{"escaped slash", `{"a":"https:\/\/ada:pw@e.com\/x"}`, `{"a":"https:\/\/ada:[redacted]@e.com\/x"}`},
		{"json in a string", `{"text":"{\"password\":\"hunter2\",\"pin\":7}"}`, `{"text":"{\"password\":\"[redacted]\",\"pin\":7}"}`},
		{"number in json in a string", `{"text":"{\"password\":7}"}`, `{"text":"{\"password\":\"[redacted]\"}"}`},
		{"json twice in a string", `["[\"{\\\"password\\\":7}\"]"]`, `["[\"{\\\"password\\\":\\\"[redacted]\\\"}\"]"]`},
		{"name and value", `[{"name":"API_KEY","value":"x"},{"value":"y","name":"token","z":"Bearer abc123"},{"name":"city","value":"Ulm"}]`,
			`[{"name":"API_KEY","value":"[redacted]"},{"value":"[redacted]","name":"token","z":"Bearer [redacted:bearer]"},{"name":"city","value":"Ulm"}]`},
		{"name after a value with edits", `{"value":"a sk-` + `a1b2c3d4e5 b","name":"secret","z":"password=q1"}`,
			`{"value":"[redacted]","name":"secret","z":"password=[redacted]"}`},
		{"command line", `{"args":["run","--api-key","x","--token","--verbose","y"]}`, `{"args":["run","--api-key","[redacted]","--token","--verbose","y"]}`},
		{"empty secret", `{"password":"","token":null}`, `{"password":"","token":null}`},
		{"no json", `{"password":"hunter2"`, `{"password":"[redacted]"`},
		{"top-level string", `"Bearer abc123def"`, `"Bearer [redacted:bearer]"`},
		{"nothing", ``, ``},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := JSON([]byte(c.in))
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if again := JSON(got); string(again) != string(got) {
				t.Errorf("a second pass gives %s", again)
			}
		})
	}
}

func TestKeysMatchWholeSegments(t *testing.T) {
	hidden := strings.Fields(`secret password passwd token apiKey api_key x-api-key X-Api-Keys authorization cookie Set-Cookie
		credential credentials privateKey private_key client_secret accessToken access.token GITHUB_TOKEN APIKey xAPIKey
		apikey basic_auth api_keys refresh_token id_token sessionToken AWS_SECRET_ACCESS_KEY secret_id dbPassword db_pass
		PGPASSWORD passphrase password2 proxy-authorization account_key bearer jwt userPwd csrfToken oauthToken token`)
	for _, key := range hidden {
		if k := nameKind([]byte(key)); k != secret && k != counts {
			t.Errorf("%s does not count as a secret", key)
		}
	}
	kept := strings.Fields(`author authority authors max_tokens maxTokens max_new_tokens nextPageToken pageToken next_token tokenCount
		token_type tokenizer input_tokens progressToken key keys primaryKey public_key cacheKey keyboard monkey passwordPolicy
		cookieName token_endpoint secretary pass pwd passage compass id name syncToken continuationToken accessKeyId
		tokens_used environment envelope authenticate authenticated`)
	for _, key := range kept {
		if k := nameKind([]byte(key)); k != plain {
			t.Errorf("%s counts as a secret", key)
		}
	}
}

func TestArgs(t *testing.T) {
	in := []string{"npx", "server", "--api-key", "abc", "--token=def", "--verbose", "--password", "--x", "postgres://a:b@c/d"}
	want := []string{"npx", "server", "--api-key", "[redacted]", "--token=[redacted]", "--verbose", "--password", "--x", "postgres://a:[redacted]@c/d"}
	if diff := cmp.Diff(want, Args(in)); diff != "" {
		t.Error(diff)
	}
	if in[3] != "abc" {
		t.Error("the caller's slice was changed")
	}
}

func TestUnchangedPayloadIsTheSameSlice(t *testing.T) {
	raw := ordinaryJSON(4 << 10)
	if got := JSON(raw); &got[0] != &raw[0] {
		t.Error("a payload without secrets was copied")
	}
}

func TestDeepNestingIsReadAsText(t *testing.T) {
	deep := strings.Repeat("[", 5_000_000) + `"sk-` + `a1b2c3d4e5f6"`
	if got := string(JSON([]byte(deep))); strings.Contains(got, "a1b2c3d4e5f6") {
		t.Error("the secret survived")
	}
}

func TestLongTokensGoWhole(t *testing.T) {
	long := strings.Repeat("aB3-", 20_000)
	for _, text := range []string{"sk-" + long, "eyJhbGciOiJIUzI1NiJ9." + long + "." + long, "token=" + long, "Bearer " + long} {
		if got := Text(text); strings.Contains(got, "aB3-") {
			t.Errorf("the end of %.20s... survived", text)
		}
	}
}

// TestBeginningsDoNotTakeTheSquare runs texts that look like secrets at every
// few bytes and never are. Without a bound on looking ahead each takes minutes.
func TestBeginningsDoNotTakeTheSquare(t *testing.T) {
	for _, part := range []string{"-eyJ", "sk-", "a://", "token:", "token=(", "x.token=", "bearer ", `token="`, "=", "-----BEGIN ", "\\", "[", "{\"a\":"} {
		text := strings.Repeat(part, (128<<10)/len(part))
		Text(text)
		quoted, _ := json.Marshal(text)
		JSON(quoted)
	}
}
