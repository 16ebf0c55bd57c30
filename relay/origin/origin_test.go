package origin

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/bir-run/bir/relay/relaytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(relaytest.Settle(m)) }

func at(t *testing.T, address string, header map[string]string) *Origin {
	t.Helper()
	o, err := New(Config{URL: address, Header: header})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func TestOriginIsSchemeHostAndPort(t *testing.T) {
	o := at(t, "https://mcp.example.com/mcp", nil)
	for address, same := range map[string]bool{
		"https://MCP.example.com:443/other": true, "https://mcp.example.com:8443/mcp": false, "http://mcp.example.com/mcp": false,
		"https://example.com/mcp": false, "https://mcp.example.com.evil.example/mcp": false, "https://mcp.example.com@evil.example/": false,
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		if o.Same(u) != same {
			t.Errorf("%s: same is %v", address, !same)
		}
	}
}

func TestRedirects(t *testing.T) {
	for name, c := range map[string]struct {
		method   string
		status   int
		location string
		want     string // of the error; empty when it is followed
	}{
		"POST, 307":            {"POST", 307, "/to", ""},
		"POST, 308":            {"POST", 308, "/to", ""},
		"POST, 301":            {"POST", 301, "/to", "without the request (HTTP 301)"},
		"POST, 303":            {"POST", 303, "/to", "without the request (HTTP 303)"},
		"GET, 302":             {"GET", 302, "to", ""},
		"GET, 303, elsewhere":  {"GET", 303, "http://127.0.0.2:1/to", "another origin"},
		"DELETE, 302":          {"DELETE", 302, "/to", "without the request"},
		"another scheme":       {"POST", 307, "https://HOST/to", "another origin"},
		"a Location like that": {"POST", 307, "http://%zz/", "nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			var reached []string
			var s *httptest.Server
			s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if reached = append(reached, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Key")); r.URL.Path == "/mcp" {
					w.Header().Set("Location", strings.Replace(c.location, "HOST", s.Listener.Addr().String(), 1))
					w.WriteHeader(c.status)
				}
			}))
			defer s.Close()
			o := at(t, s.URL+"/mcp", map[string]string{"X-Key": "k"})
			res, err := o.Do(t.Context(), c.method, o.URL, o.NewHeader("*/*"), []byte("{}"))
			if c.want != "" {
				var why *Error
				if !errors.As(err, &why) || why.Code != CodeRefused || !strings.Contains(why.Text, c.want) || len(reached) != 1 {
					t.Errorf("%v after %v", err, reached)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			Discard(res)
			if want := c.method + " /to k"; len(reached) != 2 || reached[1] != want {
				t.Errorf("reached %v, want %s", reached, want)
			}
		})
	}
}

func TestEndedContextIsItsOwnError(t *testing.T) {
	o := at(t, "http://127.0.0.1:1/", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := o.Do(ctx, "POST", o.URL, o.NewHeader("*/*"), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPackedAnswersAreAskedForFromElsewhereOnly(t *testing.T) {
	for address, want := range map[string]string{
		"http://localhost:1": "identity", "http://127.9.9.9": "identity", "http://[::1]:1": "identity", "https://mcp.example.com": "gzip", "http://192.0.2.1": "gzip",
	} {
		if got := at(t, address, nil).NewHeader("*/*").Get("Accept-Encoding"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestStaticHostHeader(t *testing.T) {
	var host string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { host = r.Host }))
	defer s.Close()
	o := at(t, s.URL, map[string]string{"host": "inner.example"})
	res, err := o.Do(t.Context(), "GET", o.URL, o.NewHeader("*/*"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if Discard(res); host != "inner.example" {
		t.Errorf("the server is called %s", host)
	}
}

// A server that is no HTTP server may say anything.
func TestFailuresRepeatNothingOfTheServer(t *testing.T) {
	for name, said := range map[string]string{
		"no HTTP": "SECRET\r\n\r\n", "bad status": "HTTP/1.1 SECRET\r\n\r\n", "bad header": "HTTP/1.1 200 OK\r\nSECRET\r\n\r\n",
		"bad length": "HTTP/1.1 200 OK\r\nContent-Length: SECRET\r\n\r\n", "nothing": "",
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				if c, err := l.Accept(); err == nil {
					_, _ = c.Read(make([]byte, 4096))
					_, _ = c.Write([]byte(said))
					c.Close()
				}
			}()
			o := at(t, "http://"+l.Addr().String(), nil)
			_, err = o.Do(t.Context(), "POST", o.URL, o.NewHeader("*/*"), []byte("{}"))
			<-answered
			var why *Error
			if !errors.As(err, &why) || why.Code != CodeLost || strings.Contains(why.Text, "SECRET") || !strings.Contains(why.Text, "upstream connection lost") {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestProxyThatRefusesIsNamed(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer proxy.Close()
	through, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(Config{URL: "https://mcp.example.invalid/mcp", Proxy: http.ProxyURL(through)})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	_, err = o.Do(t.Context(), "POST", o.URL, o.NewHeader("*/*"), []byte("{}"))
	var why *Error
	if !errors.As(err, &why) || why.Code != CodeUnreachable || !strings.Contains(why.Text, "HTTP 407") {
		t.Errorf("%v", err)
	}
}
