// Package guard has the commands about guards: bir guard list, test, explain, new,
// add, trust and remove.
package guard

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/cmd/internal/cli"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// New declares `bir guard`.
func New(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guard",
		Short: "Write, test and install rules as WebAssembly modules",
		Long: "A guard answers whether a call may be pinned, a value be used or a call be sent. All guards must allow; one\n" +
			"that fails denies. Modules in BIR_HOME/guards count everywhere, those in .bir/guards of a project count there.\n\n" +
			cli.ExitCodes,
	}
	cmd.AddCommand(newList(a), newTest(a), newExplain(a), newNew(a), newAdd(a), newTrust(a), newRemove(a))
	return cmd
}

func readRequest(in io.Reader, path string) (guardsdk.Request, error) {
	var req guardsdk.Request
	text, err := cli.ReadInput(in, "the request", path)
	if err != nil {
		return req, err
	}
	if err := json.Unmarshal(text, &req); err != nil {
		return req, cli.Usage("the request in %s is not JSON: %w", path, err)
	}
	return req, nil
}

func word(allow bool) string {
	if allow {
		return cli.Good("allow")
	}
	return cli.Bad("deny")
}

func joined(all []guardsdk.Kind) string {
	var names []string
	for _, k := range all {
		names = append(names, string(k))
	}
	return strings.Join(names, ",")
}

// brief is a duration that fits a table.
func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}
