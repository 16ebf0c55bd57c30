package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/bir-run/bir/cmd/internal/servername"
	"github.com/bir-run/bir/relay/web"
)

// Exit codes of our own. All others are the server's.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 127
)

const usage = `bir-proxy relays one MCP server unchanged and records its tool calls.

Usage: bir-proxy [flags] -- COMMAND [ARGS...]       start a server, speak stdio
       bir-proxy [flags] --url URL                  reach a server over HTTP, speak stdio
       bir-proxy [flags] --http --upstream URL      stand in front of an HTTP server

Flags:
  --server-name NAME  name of the server in the record (default: from the command or URL)
  --transport KIND    with --url: http (streamable HTTP, the default) or sse (legacy)
  --header 'K: V'     send this header to the server, with --url and --http; repeat it for more
  --port N            with --http: listen on this port of 127.0.0.1 (default: any)
  --standalone        record into a run of this proxy's own, whatever control server there is
  --user-scope        record nothing in a project that bir was not installed into
  --no-record         relay only
  --no-correlation    never declare or look for a call id, whatever BIR_CORRELATION says
  --lazy              start the server when the host first says something
  --restart           when the server ends, start it again, once
  --version           print the version
  -h, --help          print this

Examples:
  bir-proxy --server-name filesystem -- npx -y @modelcontextprotocol/server-filesystem /data
  bir-proxy --server-name tracker --url https://tracker.example/mcp
  bir-proxy --http --upstream http://127.0.0.1:3000/mcp --port 3001

Calls are reported to the control server of the project (bir up; for an SDK session the
one of BIR_CONTROL_URL and BIR_CONTROL_TOKEN). They wait up to 10 s for one, and then go
into a run of the proxy's own; it looks again every 15 s.

Headers that hold a secret are better given in BIR_UPSTREAM_HEADERS, a JSON object,
than on the command line, which other users can see.

Exit codes: the server's own (128 + signal when it died of one); 1 it could not be
started or reached, 2 usage, 127 its command was not found.
`

var errVersion = errors.New("version asked for")

// config is the command line.
type config struct {
	Command       []string
	URL           string // of a remote server, in the place of a command
	Transport     string // of a remote server
	Header        map[string]string
	Front         bool // speak HTTP to the host, too
	Port          int
	ServerName    string
	Standalone    bool
	UserScope     bool // the host has this entry for every project
	NoRecord      bool
	NoCorrelation bool
	Lazy          bool
	Restart       bool
}

func parseFlags(args []string) (config, error) {
	var c config
	var showVersion bool
	var upstream string
	fs := flag.NewFlagSet("bir-proxy", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&c.ServerName, "server-name", "", "")
	fs.StringVar(&c.URL, "url", "", "")
	fs.StringVar(&c.Transport, "transport", "", "")
	// Read after Parse: package flag repeats a refused value, which may be a secret.
	var headers []string
	fs.Func("header", "", func(line string) error { headers = append(headers, line); return nil })
	fs.BoolVar(&c.Front, "http", false, "")
	fs.StringVar(&upstream, "upstream", "", "")
	fs.IntVar(&c.Port, "port", 0, "")
	fs.BoolVar(&c.Standalone, "standalone", false, "")
	fs.BoolVar(&c.UserScope, "user-scope", false, "")
	fs.BoolVar(&c.NoRecord, "no-record", false, "")
	fs.BoolVar(&c.NoCorrelation, "no-correlation", false, "")
	fs.BoolVar(&c.Lazy, "lazy", false, "")
	fs.BoolVar(&c.Restart, "restart", false, "")
	fs.BoolVar(&showVersion, "version", false, "")
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	for _, line := range headers {
		if err := c.addHeader(line); err != nil {
			return c, fmt.Errorf("--header: %w", err)
		}
	}
	if showVersion {
		return c, errVersion
	}
	c.Command = fs.Args()
	return c.settle(upstream)
}

// settle checks what was asked for together, and fills in what follows from it.
func (c config) settle(upstream string) (config, error) {
	switch {
	case c.Front && upstream == "":
		return c, errors.New("--http needs --upstream URL")
	case c.Front && (c.URL != "" || len(c.Command) > 0):
		return c, errors.New("--http takes --upstream URL and nothing else to reach")
	case !c.Front && upstream != "":
		return c, errors.New("--upstream goes with --http")
	case !c.Front && c.Port != 0:
		return c, errors.New("--port goes with --http")
	case c.Port < 0 || c.Port > 65535:
		return c, errors.New("--port: want 0 to 65535")
	case c.Front:
		c.URL = upstream
	}
	if c.URL != "" {
		return c.settleRemote()
	}
	switch {
	case c.Transport != "" || c.Header != nil:
		return c, errors.New("--transport and --header go with --url")
	case len(c.Command) == 0:
		return c, errors.New("no server: give its command after --, or --url URL")
	case c.Command[0] == "":
		return c, errors.New("the server's command is empty")
	}
	if c.ServerName == "" {
		c.ServerName = servername.FromCommand(c.Command)
	}
	return c, nil
}

func (c config) settleRemote() (config, error) {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return c, errors.New("the server's address: want an http:// or https:// URL with a host") // it may hold a secret
	case len(c.Command) > 0:
		return c, errors.New("give a command or --url URL, not both")
	case c.Transport == "":
		c.Transport = "http"
	case c.Transport != "http" && c.Transport != "sse":
		return c, errors.New("--transport: want http or sse")
	case c.Front && c.Transport == "sse":
		return c, errors.New("--http stands in front of streamable HTTP only")
	}
	c.Command = nil
	if c.ServerName == "" {
		c.ServerName = servername.FromURL(c.URL)
	}
	return c, nil
}

// addHeader takes a line of the form "Name: value". The error does not repeat it: it
// may hold a secret.
func (c *config) addHeader(line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return errors.New("want 'Name: value'")
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if err := web.CheckHeader(name, value); err != nil {
		return err
	}
	if c.Header == nil {
		c.Header = map[string]string{}
	}
	c.Header[name] = value
	return nil
}

// explain says why nothing is started, and returns the exit code.
func (config) explain(err error, out, errOut io.Writer) int {
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return 0
	case errors.Is(err, errVersion):
		fmt.Fprintln(out, "bir-proxy "+version)
		return 0
	}
	fmt.Fprintf(errOut, "bir-proxy: %s (see bir-proxy --help)\n", err)
	return exitUsage
}
