// Package launch finds the service and starts the embedded one where it does not
// run: one process per user, however many ask for it at once. The service is
// found through service.json in BIR_HOME, which is trusted only where nobody else
// could have written or read it, since it holds the token. The package never
// stops a service that it was not asked to stop.
package launch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/process"
)

const (
	defaultStartTimeout = 10 * time.Second
	// healthTimeout bounds one question whether the service is there. It listens
	// on loopback, and asking it costs it nothing.
	healthTimeout = 2 * time.Second
	// The pauses between two looks for a service that starts.
	minPause = 10 * time.Millisecond
	maxPause = 100 * time.Millisecond
)

// Config says which service, and how the embedded one is started.
type Config struct {
	Home    string // BIR_HOME
	AuthURL string // another service instead of the embedded one
	Token   string // for AuthURL

	ServeCommand []string      // "/usr/bin/bir", "serve"
	Env          []string      // its environment
	StartTimeout time.Duration // for it to answer; 0: 10 s
	HTTP         *http.Client  // nil: http.DefaultClient
	Logger       *slog.Logger  // nil: discard
}

// Connect returns a client of the service, started first where it has to be.
func Connect(ctx context.Context, cfg Config) (*client.Client, error) {
	if cfg.AuthURL != "" {
		return client.New(client.Config{BaseURL: cfg.AuthURL, Token: cfg.Token, HTTP: cfg.HTTP}), nil
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.StartTimeout <= 0 {
		cfg.StartTimeout = defaultStartTimeout
	}
	c, err := running(ctx, cfg)
	if c != nil || err != nil {
		return c, err
	}
	return start(ctx, cfg)
}

// ServeLock is held by the serving process for its whole life. The system drops it
// when the process dies, so nothing is ever left over.
func ServeLock(home string) *flock.Flock {
	return flock.New(filepath.Join(home, "service.serve.lock"), flock.SetPermissions(0o600))
}

// Stop asks the embedded service to end and waits until it has: its process lets go
// of the lock last of all. It says false where none was running.
func Stop(ctx context.Context, home string) (bool, error) {
	c, err := running(ctx, Config{Home: home})
	if c == nil {
		return false, err
	}
	file, err := Read(home)
	if errors.Is(err, os.ErrNotExist) { // it ended by itself meanwhile
		return false, nil
	}
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, defaultStartTimeout)
	defer cancel()
	if err := c.Shutdown(ctx); err != nil {
		return false, fmt.Errorf("stop service: %w", err)
	}
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		if ended(home, file.PID) {
			return true, nil
		}
		if err := wait(ctx, pause); err != nil {
			return true, fmt.Errorf("stop service: it still runs: %w", err)
		}
	}
}

// ended says that the service with this process id is gone: nobody serves, or
// somebody who needed a service meanwhile started another.
func ended(home string, pid int) bool {
	if now, err := Read(home); err == nil && now.PID != pid {
		return true
	}
	lock := ServeLock(home)
	held, err := lock.TryLock()
	if err != nil || !held {
		return false
	}
	return lock.Close() == nil
}

// SpoolDir is where recordings wait for a service. Each service has a folder of
// its own, so that what was meant for one is never sent to another.
func SpoolDir(home, authURL string) string {
	dir := filepath.Join(home, "spool")
	if authURL == "" {
		return dir
	}
	sum := sha256.Sum256([]byte(authURL)) // an address has characters that a file's name may not
	return filepath.Join(dir, hex.EncodeToString(sum[:8]))
}

// running returns a client of the service that the file names, nil where it does
// not answer. An error means that the file cannot be trusted.
func running(ctx context.Context, cfg Config) (*client.Client, error) {
	file, err := Read(cfg.Home)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errDamaged) {
		return nil, nil // it never was, or whoever starts next writes it anew
	}
	if err != nil {
		return nil, err
	}
	if !onLoopback(file.URL) {
		return nil, fmt.Errorf("service file: %s is not on this machine", file.URL)
	}
	c := client.New(client.Config{BaseURL: file.URL, Token: file.Token, HTTP: cfg.HTTP})
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	// Another program may have the port by now; it does not know our process id.
	if h, err := c.Health(ctx); err != nil || !h.OK || h.PID != file.PID {
		return nil, nil
	}
	return c, nil
}

func onLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// start starts the service, or waits for the one that another process starts.
// Whoever has the lock starts; the others find it running when they get the lock.
func start(ctx context.Context, cfg Config) (*client.Client, error) {
	if len(cfg.ServeCommand) == 0 {
		return nil, errors.New("start service: no command for it")
	}
	if err := os.MkdirAll(cfg.Home, 0o700); err != nil {
		return nil, fmt.Errorf("start service: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, cfg.StartTimeout)
	defer cancel()
	lock := flock.New(filepath.Join(cfg.Home, "service.lock"), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, minPause); err != nil {
		return nil, fmt.Errorf("start service: lock: %w", err)
	}
	defer func() { _ = lock.Unlock() }() // closing the file would release it too
	c, err := running(ctx, cfg)
	if c != nil || err != nil {
		return c, err
	}
	child, err := process.Start(process.Command{
		Args: cfg.ServeCommand, Env: cfg.Env, Dir: cfg.Home, Log: filepath.Join(cfg.Home, "logs", "service.log"), Yields: true,
	})
	if err != nil {
		return nil, fmt.Errorf("start service: %w", err)
	}
	cfg.Logger.LogAttrs(ctx, slog.LevelInfo, "service started", slog.Int("pid", child.PID))
	return await(ctx, cfg, child)
}

// await returns a client once the service answers.
func await(ctx context.Context, cfg Config, child *process.Child) (*client.Client, error) {
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		ended, how := child.Ended()
		c, err := running(ctx, cfg)
		if c != nil || err != nil {
			return c, err
		}
		// A command that ended well may have left the service in the background; one
		// that failed will not answer any more.
		if ended && how != nil {
			return nil, fmt.Errorf("start service: it ended before it answered: %w (see %s)", how, child.Log)
		}
		if err := wait(ctx, pause); err != nil {
			return nil, fmt.Errorf("start service: it does not answer: %w (see %s)", err, child.Log)
		}
	}
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
