package daemon

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bir-run/bir/control/discover"
	"github.com/bir-run/bir/control/process"
)

// child is the server that was started here. It outlives this process.
type child struct {
	pid  int
	log  string
	done chan struct{} // closed when it has ended
	err  error         // how it ended; read only after done
}

// ended says whether the child has ended; if so, err may be read.
func (c *child) ended() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// spawn starts the server in a session of its own, with its output in the log: a
// signal or a closed terminal of ours is none of its business.
func (s Starter) spawn() (*child, error) {
	path := discover.LogPath(s.Home, s.Root)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	args := append(s.Command[1:len(s.Command):len(s.Command)], "--root", s.Root)
	if s.Replace {
		args = append(args, "--replace")
	}
	cmd := exec.Command(s.Command[0], args...)
	cmd.Env = Environment(s.Environ, s.Home)
	cmd.Dir = s.Home // the project's folder may be removed, or unmounted, while it runs
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = process.Detached()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{pid: cmd.Process.Pid, log: path, done: make(chan struct{})}
	// Ends with the server. It may outlive whoever called Ensure: without it, a server
	// that ends before us stays behind as a zombie.
	go func() {
		if c.err = cmd.Wait(); c.err == nil {
			c.err = errors.New("no error")
		}
		close(c.done)
	}()
	return c, nil
}
