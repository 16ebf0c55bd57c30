package service

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bir-run/bir/recorder/api"
)

// routes is every route once.
var routes = []struct{ method, path string }{
	{"POST", "/recordings/runs"},
	{"GET", "/recordings/runs"},
	{"GET", "/recordings/runs/run_x"},
	{"PATCH", "/recordings/runs/run_x"},
	{"DELETE", "/recordings/runs/run_x"},
	{"POST", "/recordings/runs/run_x/steps"},
	{"PATCH", "/recordings/runs/run_x/steps/step_x"},
	{"POST", "/recordings/runs/run_x/finish"},
	{"POST", "/recordings/runs/run_x/calculate"},
	{"GET", "/recordings/runs/run_x/scenario"},
	{"GET", "/scenarios"},
	{"GET", "/scenarios/scn_x"},
	{"POST", "/scenarios/scn_x/steps/1/check"},
	{"PATCH", "/scenarios/scn_x/steps/1"},
	{"GET", "/scenarios/scn_x/edits"},
	{"POST", "/scenarios/scn_x/edits/latest/revert"},
	{"GET", "/healthz"},
	{"POST", "/shutdown"},
}

func TestEveryRouteIsGuarded(t *testing.T) {
	a := serving(t, pool)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Host = name }
	}
	for name, c := range map[string]struct {
		change func(*http.Request)
		code   api.Code
	}{
		"no token":        {func(r *http.Request) { r.Header.Del("Authorization") }, api.Unauthorized},
		"wrong token":     {header("Authorization", "Bearer secret2"), api.Unauthorized},
		"part of a token": {header("Authorization", "Bearer secre"), api.Unauthorized},
		"empty token":     {header("Authorization", "Bearer "), api.Unauthorized},
		"basic":           {header("Authorization", "Basic secret"), api.Unauthorized},
		"foreign host":    {host("evil.example"), api.HostNotAllowed},
		"rebound host":    {host("127.0.0.1.evil.example:80"), api.HostNotAllowed},
		"network address": {host("192.168.1.7:80"), api.HostNotAllowed},
		"web page":        {header("Origin", "https://evil.example"), api.OriginNotAllowed},
		"null origin":     {header("Origin", "null"), api.OriginNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			a := a
			a.TB = t
			for _, route := range routes {
				a.refused(route.method, route.path, "{}", c.code, c.change)
			}
		})
	}
}

func TestGuardComesBeforeUnknownRoutes(t *testing.T) {
	a := serving(t, pool)
	a.refused("GET", "/nothing", nil, api.Unauthorized, func(r *http.Request) { r.Header.Del("Authorization") })
}

func TestLoopbackNamesAreAllowed(t *testing.T) {
	a := serving(t, pool)
	for _, name := range []string{"localhost", "LOCALHOST:1", "127.0.0.1:9", "127.8.8.8", "[::1]:80", "[::1]"} {
		resp, _ := a.send("GET", "/healthz", nil, func(r *http.Request) { r.Host = name })
		if resp.StatusCode != http.StatusOK {
			t.Errorf("host %s: %d", name, resp.StatusCode)
		}
	}
}

func TestUnknownThingsAnswerNotFound(t *testing.T) {
	a := serving(t, pool)
	bodies := map[string]string{
		"/recordings/runs/run_x":              `{"input":"x"}`,
		"/recordings/runs/run_x/steps":        `{"id":"step_1","type":"final_answer"}`,
		"/recordings/runs/run_x/steps/step_x": `{"answer":"x"}`,
	}
	for _, route := range routes[2:] {
		if strings.Contains(route.path, "_x") {
			a.refused(route.method, route.path, bodies[route.path], api.NotFound)
		}
	}
	a.refused("GET", "/nothing/here", nil, api.NotFound)
}

func TestWrongMethodNamesTheRightOnes(t *testing.T) {
	a := serving(t, pool)
	a.refused("PUT", "/recordings/runs", "{}", api.MethodNotAllowed)
	resp, _ := a.send("PUT", "/recordings/runs", "{}")
	if allow := resp.Header.Get("Allow"); !strings.Contains(allow, "POST") {
		t.Errorf("Allow is %q", allow)
	}
}

func TestBodyHasALimit(t *testing.T) {
	a := serving(t, pool)
	large := `{"id":"run_1","input":"` + strings.Repeat("x", api.MaxBodyBytes) + `"}`
	a.refused("POST", "/recordings/runs", large, api.PayloadTooLarge)
	a.refused("GET", "/recordings/runs/run_1", nil, api.NotFound)
	fits := `{"id":"run_1","input":"` + strings.Repeat("x", api.MaxBodyBytes-100) + `"}`
	a.call("POST", "/recordings/runs", fits, http.StatusCreated, nil)
}

func TestMalformedJSONSaysWhere(t *testing.T) {
	a := serving(t, pool)
	for body, detail := range map[string]string{
		"{\n  \"id\": run_1}":         `line 2, column 9: invalid character 'r' looking for beginning of value`,
		`{"id":"run_1"`:               `line 1, column 13: unexpected end of JSON input`,
		`{"id":7}`:                    `line 1, column 7: "id": got number, want string`,
		`{"metadata":{"servers":[]}}`: `line 1, column 24: "metadata.servers": got array, want object`,
		`[]`:                          `line 1, column 1: the body: got array, want object`,
		`{"id":"run_1"} {}`:           `line 1, column 16: invalid character '{' after top-level value`,
	} {
		if doc := a.refused("POST", "/recordings/runs", body, api.MalformedJSON); doc.Detail != detail {
			t.Errorf("%s: %s", body, doc.Detail)
		}
	}
	if doc := a.refused("POST", "/recordings/runs", `{"id":"run_1","startedAt":"noon"}`, api.MalformedJSON); !strings.Contains(doc.Detail, "noon") {
		t.Error(doc.Detail)
	}
}
