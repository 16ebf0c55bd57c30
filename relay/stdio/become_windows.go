package stdio

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Become runs the server on the given standard streams and waits for its end:
// Windows cannot put one process in the place of another. It dies with us.
func Become(argv, env []string, streams [3]*os.File) (status int, err error) {
	cmd, err := command(argv, env)
	if err != nil {
		return 0, err
	}
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = streams[0], streams[1], streams[2]
	var g group
	g.prepare(cmd)
	defer g.release()
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	g.started(cmd.Process)
	var ended *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &ended) {
		return 0, err
	}
	return exitStatus(cmd.ProcessState), nil
}
