// Package wrap has bir wrap, which prints the configuration that puts bir-proxy before
// one MCP server, in the form that a client reads. It must never write to a client's
// file: that is bir install's, which can undo it.
package wrap

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/cmd/internal/servername"
)

type options struct {
	client    string
	name      string
	url       string
	transport string
	headers   []string
	env       []string
}

// entry is one server, as every client's form has it.
type entry struct {
	Name    string
	Command string
	Args    []string
	Env     map[string]string
}

// New declares `bir wrap`.
func New(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "wrap [flags] {-- COMMAND [ARGS...] | --url URL}",
		Short: "Print the configuration that records one MCP server, for any client",
		Long: "The snippet goes to standard output, and where to put it to standard error. Nothing is written.\n\n" +
			"Clients:\n" + clientList() + "\n" + cli.ExitCodes,
		Example: "  bir wrap -- npx -y @modelcontextprotocol/server-filesystem /data\n" +
			"  bir wrap --client codex --server-name files -- npx -y @modelcontextprotocol/server-filesystem /data\n" +
			"  bir wrap --client vscode --url https://tracker.example/mcp --header 'Authorization: Bearer ...'",
		RunE: func(_ *cobra.Command, args []string) error { return run(a, o, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.client, "client", "generic", "whose form to print, see above")
	f.StringVar(&o.name, "server-name", "", "name of the server (default: from the command or URL)")
	f.StringVar(&o.url, "url", "", "a server over HTTP instead of a command")
	f.StringVar(&o.transport, "transport", "http", "with --url: http or sse")
	f.StringArrayVar(&o.headers, "header", nil, "with --url: 'Name: value' to send; repeat it for more")
	f.StringArrayVar(&o.env, "env", nil, "NAME=VALUE for the server; repeat it for more")
	return cmd
}

func run(a *app.App, o options, args []string) error {
	form, ok := find(o.client)
	if !ok {
		return cli.Hint(cli.Usage("no client %q", o.client), "`bir wrap --help` lists them; most read what --client generic prints")
	}
	proxy, err := a.Binary("bir-proxy")
	if err != nil {
		return err
	}
	e, err := o.entry(proxy, args)
	if err != nil {
		return err
	}
	text, err := form.print(e)
	if err != nil {
		return err
	}
	fmt.Fprint(a.Out, text)
	fmt.Fprintf(a.Err, "put it into %s\n", form.file)
	return nil
}

// entry is the server with the proxy before it.
func (o options) entry(proxy string, command []string) (entry, error) {
	e := entry{Name: o.name, Command: proxy, Env: map[string]string{}}
	for _, kv := range o.env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			return e, cli.Usage("--env %s: want NAME=VALUE", name)
		}
		e.Env[name] = value
	}
	switch {
	case o.url != "" && len(command) > 0:
		return e, cli.Usage("give a command or --url, not both")
	case o.url != "":
		return o.remote(e)
	case len(command) == 0:
		return e, cli.Usage("no server: give its command after --, or --url URL")
	case len(o.headers) > 0:
		return e, cli.Usage("--header goes with --url")
	}
	if e.Name == "" {
		e.Name = servername.FromCommand(command)
	}
	e.Args = append([]string{"--server-name", e.Name, "--"}, command...)
	return e, nil
}

func (o options) remote(e entry) (entry, error) {
	if o.transport != "http" && o.transport != "sse" {
		return e, cli.Usage("--transport %s: want http or sse", o.transport)
	}
	if !strings.HasPrefix(o.url, "http://") && !strings.HasPrefix(o.url, "https://") {
		return e, cli.Usage("--url: want http://HOST/... or https://HOST/...")
	}
	if e.Name == "" {
		e.Name = servername.FromURL(o.url)
	}
	e.Args = []string{"--server-name", e.Name, "--url", o.url, "--transport", o.transport}
	if len(o.headers) == 0 {
		return e, nil
	}
	headers := map[string]string{}
	for _, line := range o.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return e, cli.Usage("--header: want 'Name: value'") // which may hold a secret
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	// Not as flags of the proxy: other users of the machine can see those.
	text, err := json.Marshal(headers)
	e.Env["BIR_UPSTREAM_HEADERS"] = string(text)
	return e, err
}

// clientList is the help's list of clients.
func clientList() string {
	var b strings.Builder
	for _, f := range forms {
		fmt.Fprintf(&b, "  %-15s %s\n", f.client, f.file)
	}
	return b.String()
}
