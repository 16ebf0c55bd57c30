package process

import (
	"os"
	"os/exec"
	"path/filepath"
)

// Command is a program that goes on when whoever started it has ended.
type Command struct {
	Args []string // the program first
	Env  []string
	Dir  string // one that stays: it cannot be removed, or unmounted, while the program runs
	Log  string // the file that its output is added to
	// Yields says that the tools of the user go first.
	Yields bool
}

// Child is a program that was started here.
type Child struct {
	PID  int
	Log  string
	done chan struct{} // closed when it has ended
	err  error         // how it ended; read only after done
}

// Start starts the program in a session of its own: a signal or a closed terminal of
// ours is none of its business.
func Start(c Command) (*Child, error) {
	if err := os.MkdirAll(filepath.Dir(c.Log), 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(c.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() // the child has its own
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = Detached()
	if c.Yields {
		yielding(cmd.SysProcAttr)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if c.Yields {
		stepBack(cmd.Process.Pid)
	}
	child := &Child{PID: cmd.Process.Pid, Log: c.Log, done: make(chan struct{})}
	// Ends with the child. It may outlive whoever called Start: without it, a child that
	// ends before us stays behind as a zombie.
	go func() {
		child.err = cmd.Wait()
		close(child.done)
	}()
	return child, nil
}

// Ended says whether the child has ended, and with which error.
func (c *Child) Ended() (bool, error) {
	select {
	case <-c.done:
		return true, c.err
	default:
		return false, nil
	}
}
