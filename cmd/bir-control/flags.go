package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/bir-run/bir/control/client/locate"
)

const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRunning = 3
	exitStopped = 4
)

const usage = `bir-control is the control server of one project. ` + "`bir up`" + `, the session-start hook and
the proxies start it; there is little to do here by hand.

Usage: bir-control --root DIR            serve the project, until it is told to end
       bir-control --root DIR --detach   see to it that a control server serves the project

Flags:
  --root DIR   the project: its git main working tree, or any folder in it
  --detach     start a server in the background, where none of this version or a newer
               one answers, and end once one does; not after ` + "`bir down`" + `
  --replace    take over from whichever server runs, not only from an older one
  --version    print the version
  -h, --help   print this

Example:
  bir-control --root /home/me/fleet --detach

Exit codes: 0 done, 1 failed, 2 usage, 3 another control server serves and stays,
4 it was stopped with ` + "`bir down`" + `.
`

var errVersion = errors.New("version asked for")

type flags struct {
	root            string // as package locate names it
	detach, replace bool
}

func parseFlags(args []string) (flags, error) {
	var f flags
	set := flag.NewFlagSet("bir-control", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.StringVar(&f.root, "root", "", "")
	set.BoolVar(&f.detach, "detach", false, "")
	set.BoolVar(&f.replace, "replace", false, "")
	show := set.Bool("version", false, "")
	err := set.Parse(args)
	switch {
	case err != nil:
		return f, err
	case *show:
		return f, errVersion
	case set.NArg() > 0:
		return f, fmt.Errorf("unexpected argument %q", set.Arg(0))
	case f.root == "":
		return f, errors.New("--root is needed")
	}
	f.root = locate.Root(f.root)
	return f, nil
}

// explain says what is wrong with a command line, or what was asked for in its place.
func explain(err error, out, errOut io.Writer) int {
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
	case errors.Is(err, errVersion):
		fmt.Fprintln(out, "bir-control", version)
	default:
		fmt.Fprintf(errOut, "bir-control: %v\nhint: `bir-control --help` shows the flags and an example\n", err)
		return exitUsage
	}
	return exitOK
}
