package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// pump is the least that can stand between a host and a server: it starts the
// command of its arguments and copies both ways. All ends are in the poller, where
// the system has one: a blocking end stalls the others.
func pump() int {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Env = append(os.Environ(), roleVar+"="+roleServer)
	cmd.Stderr = os.Stderr
	to, err := cmd.StdinPipe()
	if err != nil {
		return fail(err)
	}
	from, err := cmd.StdoutPipe()
	if err != nil {
		return fail(err)
	}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	in, out := polled(os.Stdin), polled(os.Stdout)
	// Ends with the host's input, or with the process.
	go func() {
		io.Copy(to, in)
		to.Close()
	}()
	io.Copy(out, from)
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return fail(err)
	}
	return cmd.ProcessState.ExitCode()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}
