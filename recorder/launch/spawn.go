package launch

import (
	"os"
	"os/exec"
	"path/filepath"
)

// child is the service that was started here. It outlives this process.
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

// spawn starts the serve command in a session of its own, with its output in the
// log: a signal or a closed terminal of ours is none of its business.
func spawn(cfg Config) (*child, error) {
	path := filepath.Join(cfg.Home, "logs", "service.log")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	cmd := exec.Command(cfg.ServeCommand[0], cfg.ServeCommand[1:]...)
	cmd.Env = cfg.Env
	cmd.Dir = cfg.Home // our own folder may be removed, or unmounted, while it runs
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = detached()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stepBack(cmd.Process.Pid)
	c := &child{pid: cmd.Process.Pid, log: path, done: make(chan struct{})}
	// Ends with the service. It may outlive whoever called Connect: without it, a
	// service that ends before us stays behind as a zombie.
	go func() {
		c.err = cmd.Wait()
		close(c.done)
	}()
	return c, nil
}
