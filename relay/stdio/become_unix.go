//go:build unix

package stdio

import (
	"fmt"
	"os"
	"syscall"
)

// Become puts the server in our place: the same process, the same standard streams.
// It returns only if that is not possible.
func Become(argv, env []string, _ [3]*os.File) (status int, err error) {
	cmd, err := command(argv, env)
	if err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("run %s: %w", cmd.Path, syscall.Exec(cmd.Path, cmd.Args, env))
}
