package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/discover"
)

// Stop asks the control server of a root to end and waits until it has. It says false
// where none was running. Its open runs go on when it is started again. With stay, it
// is not started again until the user says so.
func Stop(ctx context.Context, home, root string, stay bool) (bool, error) {
	if err := discover.MakeDir(home); err != nil {
		return false, err
	}
	if stay { // before it ends, or a proxy could revive it at once
		if err := discover.SetStopped(home, root, true); err != nil {
			return false, err
		}
	}
	file, c, err := reach(ctx, home, root)
	if untrusted(err) {
		return false, err
	}
	if err != nil {
		return false, notThere(home, root, file.PID)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, handOverTimeout)
	defer cancel()
	if err := c.Shutdown(ctx, client.Shutdown{}); err != nil {
		return false, fmt.Errorf("stop process %d: %w", file.PID, err)
	}
	lock := discover.Lock(home, root)
	if _, err := lock.TryLockContext(ctx, lockPause); err != nil {
		return true, fmt.Errorf("stop process %d: it still runs: %w", file.PID, err)
	}
	return true, lock.Close()
}

// notThere holds that a server that does not answer does not run.
func notThere(home, root string, pid int) error {
	lock := discover.Lock(home, root)
	held, err := lock.TryLock()
	if err != nil {
		return err
	}
	if !held {
		return errors.Join(ErrRunning, fmt.Errorf("process %d does not answer", pid))
	}
	return lock.Close()
}
