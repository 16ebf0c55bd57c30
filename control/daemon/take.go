package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/discover"
)

// ErrRunning says that another control server serves the root and stays.
var ErrRunning = errors.New("the control server is already running")

const (
	// lockPause is the pause between two tries for the lock.
	lockPause = 5 * time.Millisecond
	// unknownTimeout is how long a lock may be held by somebody who cannot be found:
	// it starts, or ends, or only looked whether the lock is held.
	unknownTimeout = 3 * time.Second
	// handOverTimeout bounds the end of the one before.
	handOverTimeout = 15 * time.Second
	// askTimeout bounds a question to a server on this machine that has nothing to do
	// for it.
	askTimeout = 2 * time.Second
)

// take gets the lock of a root: at once where nobody has it, else from an older server
// that hands over.
func take(ctx context.Context, cfg Config) (*seat, error) {
	lock := discover.Lock(cfg.Home, cfg.Root)
	unknown := time.Now().Add(unknownTimeout)
	for {
		held, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock %s: %w", lock.Path(), err)
		}
		if held {
			before, _ := discover.Read(cfg.Home, cfg.Root) // what a crash left, or nothing to be had
			return &seat{lock: lock, before: before}, nil
		}
		before, c, err := reach(ctx, cfg.Home, cfg.Root)
		switch {
		case err == nil:
			defer c.Close()
			if !cfg.Replace && !newer(cfg.Version, before.Version) {
				return nil, ErrRunning
			}
			return takeOver(ctx, cfg, lock, before, c)
		case time.Now().After(unknown):
			return nil, fmt.Errorf("%w, and does not answer: %w", ErrRunning, err)
		}
		if err := wait(ctx, lockPause); err != nil {
			return nil, err
		}
	}
}

// takeOver has the one before hand over. This one listens before it asks, so that
// hooks and proxies that come meanwhile wait instead of being refused; and it asks
// over the connection that was made before, which leads to nobody else.
func takeOver(ctx context.Context, cfg Config, lock *flock.Flock, before discover.File, c *client.Client) (*seat, error) {
	s := &seat{lock: lock, before: before, handed: true}
	order := client.Shutdown{HandOver: true}
	if before.Socket != "" {
		var err error
		if s.socket, err = discover.ListenSocket(ctx, cfg.Home, cfg.Root); err == nil && s.socket != nil {
			order.Socket = s.socket.Temp()
			address, _ := before.Address()
			s.tcp = discover.ShareTCP(ctx, address)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, handOverTimeout)
	defer cancel()
	cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "control.take_over", slog.String("from", before.Version), slog.Int("pid", before.PID))
	err := c.Shutdown(ctx, order)
	if err == nil {
		_, err = lock.TryLockContext(ctx, lockPause)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take over from process %d: %w", before.PID, err), s.leave(cfg))
	}
	return s, nil
}

// reach finds the control server that answers for a root. The client is the caller's
// to close.
func reach(ctx context.Context, home, root string) (discover.File, *client.Client, error) {
	file, err := discover.Read(home, root)
	if err != nil {
		return file, nil, err
	}
	c, err := client.New(file.File)
	if err != nil {
		return file, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	health, err := c.Health(ctx)
	// Another program may have the port by now; it does not know our process id.
	if err == nil && (!health.OK || health.PID != file.PID) {
		err = client.ErrUnreachable
	}
	if err != nil {
		c.Close()
		return file, nil, err
	}
	return file, c, nil
}

// untrusted says that a discovery file is there which must not be followed, nor
// written over: its folder is not what it should be.
func untrusted(err error) bool {
	return err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, locate.ErrBad) && !errors.Is(err, client.ErrUnreachable) &&
		!errors.Is(err, client.ErrUnauthorised)
}

// wait pauses, or ends with ctx.
func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
