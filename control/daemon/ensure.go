package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/discover"
	"github.com/bir-run/bir/recorder/process"
)

// ErrStopped says that the user stopped the control server, so that it is not started.
var ErrStopped = errors.New("the control server was stopped with bir down")

const (
	defaultStartTimeout = 20 * time.Second // a hand-over included
	minPause            = 2 * time.Millisecond
	maxPause            = 50 * time.Millisecond
)

// Outcome says what Ensure found or did.
type Outcome string

// The outcomes of Ensure.
const (
	Running  Outcome = "running" // it ran already
	Started  Outcome = "started"
	Replaced Outcome = "replaced" // another one handed over
)

// Starter starts the control server of a root.
type Starter struct {
	Home, Root string
	Version    string   // ours; an older server is replaced
	Command    []string // "/usr/bin/bir-control"; its flags are added
	Environ    []string // ours; the server gets what it needs of it
	// Revive starts one that the user stopped, too.
	Revive bool
	// Replace starts one whatever runs.
	Replace bool
	Timeout time.Duration // 0: 20 s
	Logger  *slog.Logger  // nil discards
}

// Ensure returns once a control server of at least our version answers.
func (s Starter) Ensure(ctx context.Context) (locate.File, Outcome, error) {
	if s.Logger == nil {
		s.Logger = slog.New(slog.DiscardHandler)
	}
	if err := s.allowed(); err != nil {
		return locate.File{}, "", err
	}
	if file, ok, err := s.running(ctx); ok || err != nil {
		return file, Running, err
	}
	if s.Timeout <= 0 {
		s.Timeout = defaultStartTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	lock := discover.StartLock(s.Home, s.Root)
	if _, err := lock.TryLockContext(ctx, minPause); err != nil {
		return locate.File{}, "", fmt.Errorf("start the control server: lock: %w", err)
	}
	defer func() { _ = lock.Close() }() // the end of the process would release it too
	file, ok, err := s.running(ctx)     // another has started it meanwhile
	if ok && !s.Replace || err != nil {
		return file, Running, err
	}
	file, outcome, err := s.start(ctx)
	if err != nil {
		return file, outcome, fmt.Errorf("start the control server: %w", err)
	}
	return file, outcome, nil
}

// allowed heeds the user's order to stop, or takes it back.
func (s Starter) allowed() error {
	if err := discover.MakeDir(s.Home); err != nil {
		return err
	}
	if s.Revive {
		return discover.SetStopped(s.Home, s.Root, false)
	}
	if locate.Stopped(s.Home, s.Root) {
		return ErrStopped
	}
	return nil
}

// running finds a server that need not be replaced. An error means that its file
// cannot be trusted.
func (s Starter) running(ctx context.Context) (locate.File, bool, error) {
	file, c, err := reach(ctx, s.Home, s.Root)
	if err != nil {
		if untrusted(err) {
			return locate.File{}, false, fmt.Errorf("%s: %w", locate.Path(s.Home, s.Root), err)
		}
		return locate.File{}, false, nil
	}
	c.Close()
	return file.File, !s.Replace && !newer(s.Version, file.Version), nil
}

// start spawns a server and waits until one answers that need not be replaced.
func (s Starter) start(ctx context.Context) (locate.File, Outcome, error) {
	if len(s.Command) == 0 {
		return locate.File{}, "", errors.New("no command for it")
	}
	outcome := Started
	before, c, err := reach(ctx, s.Home, s.Root)
	if err == nil {
		c.Close()
		outcome = Replaced
	}
	child, err := process.Start(s.command())
	if err != nil {
		return locate.File{}, "", err
	}
	s.Logger.LogAttrs(ctx, slog.LevelInfo, "control.started", slog.Int("pid", child.PID))
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		ended, how := child.Ended()
		file, c, err := reach(ctx, s.Home, s.Root)
		if err == nil {
			c.Close()
			if file.PID != before.PID {
				return file.File, outcome, nil
			}
		}
		if ended {
			how = cmp.Or(how, errors.New("no error"))
			return file.File, "", fmt.Errorf("it ended before it answered: %w (see %s)", how, child.Log)
		}
		if err := wait(ctx, pause); err != nil {
			return file.File, "", fmt.Errorf("it does not answer: %w (see %s)", err, child.Log)
		}
	}
}

// command is what runs the server.
func (s Starter) command() process.Command {
	args := append(s.Command[:len(s.Command):len(s.Command)], "--root", s.Root)
	if s.Replace {
		args = append(args, "--replace")
	}
	return process.Command{
		Args: args, Env: Environment(s.Environ, s.Home),
		Dir: s.Home, // the project's folder may be removed, or unmounted, while it runs
		Log: discover.LogPath(s.Home, s.Root),
	}
}
