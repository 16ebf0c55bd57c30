package http

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// runID is the id of the one run of the home.
func (h home) runID() string {
	h.t.Helper()
	var export struct {
		Run struct {
			ID string `json:"id"`
		} `json:"run"`
	}
	if err := json.Unmarshal([]byte(h.recorded()), &export); err != nil {
		h.t.Fatal(err)
	}
	return export.Run.ID
}

// recordQuery records one query of a region, and calculates its scenario.
func recordQuery(t *testing.T, url string) (h home, run string) {
	t.Helper()
	h = newHome(t)
	p := startRecording(t, []string{"BIR_HOME=" + h.dir}, "--server-name", "fleet", "--url", url)
	p.speak(hello)
	p.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	p.speak(request(2, "tools/call", `{"name":"query","arguments":{"region":"eu-west"}}`))
	p.end()
	run = h.runID()
	h.bir("runs", "prompt", run, "query the region eu-west")
	h.bir("scenario", "calc", run)
	return h, run
}

func TestARecordedRemoteServerIsReachedAgainByAReplay(t *testing.T) {
	server := sdkServer()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	var mu sync.Mutex
	var keys []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		keys = append(keys, r.Header.Get("X-Key"))
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	h, run := recordQuery(t, s.URL)
	for name, flags := range map[string][]string{
		"as it was recorded": nil,
		"at another URL":     {"--server", "fleet=" + sdkURL(t, nil)},
		"with a header":      {"--server-header", "fleet=X-Key: secret-1"},
	} {
		t.Run(name, func(t *testing.T) {
			out := h.bir(append([]string{"replay", "--scenario", run, "--prompt", "query the region us-east"}, flags...)...)
			if !strings.Contains(out, "us-east") || strings.Contains(out, "secret-1") {
				t.Errorf("the replay said:\n%s", out)
			}
		})
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Contains(keys, "secret-1") {
		t.Error("the header did not reach the server")
	}
}
