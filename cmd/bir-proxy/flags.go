package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Exit codes of our own. All others are the server's.
const (
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 127
)

const usage = `bir-proxy starts an MCP server, relays its stdio unchanged and records its tool calls.

Usage: bir-proxy [flags] -- COMMAND [ARGS...]

Flags:
  --server-name NAME  name of the server in the record (default: from the command)
  --standalone        record into a run of this proxy's own (what it does today)
  --no-record         relay only
  --no-correlation    never declare or look for a call id, whatever BIR_CORRELATION says
  --lazy              start the server when the host first says something
  --restart           when the server ends, start it again, once
  --version           print the version
  -h, --help          print this

Example:
  bir-proxy --server-name filesystem -- npx -y @modelcontextprotocol/server-filesystem /data

Exit codes: the server's own (128 + signal when it died of one); 1 it could not be
started, 2 usage, 127 its command was not found.
`

var errVersion = errors.New("version asked for")

// config is the command line.
type config struct {
	Command       []string
	ServerName    string
	Standalone    bool
	NoRecord      bool
	NoCorrelation bool
	Lazy          bool
	Restart       bool
}

func parseFlags(args []string) (config, error) {
	var c config
	var showVersion bool
	fs := flag.NewFlagSet("bir-proxy", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&c.ServerName, "server-name", "", "")
	fs.BoolVar(&c.Standalone, "standalone", false, "")
	fs.BoolVar(&c.NoRecord, "no-record", false, "")
	fs.BoolVar(&c.NoCorrelation, "no-correlation", false, "")
	fs.BoolVar(&c.Lazy, "lazy", false, "")
	fs.BoolVar(&c.Restart, "restart", false, "")
	fs.BoolVar(&showVersion, "version", false, "")
	if err := fs.Parse(args); err != nil {
		return c, err
	}
	c.Command = fs.Args()
	switch {
	case showVersion:
		return c, errVersion
	case len(c.Command) == 0:
		return c, errors.New("no server to start: give its command after --")
	case c.Command[0] == "":
		return c, errors.New("the server's command is empty")
	}
	if c.ServerName == "" {
		c.ServerName = serverName(c.Command)
	}
	return c, nil
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
