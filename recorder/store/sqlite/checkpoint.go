package sqlite

import (
	"database/sql"
	"sync"
	"time"
)

// quietTime is how long nothing was recorded before the log is written back.
const quietTime = time.Second

// checkpoint writes the log back into the file when nothing is being recorded. SQLite
// would do it in the middle, every 4 MiB, and write each page a second time while the
// conversation that is recorded wants the machine. Past 32 MiB of log it still does.
type checkpoint struct {
	db    *sql.DB
	quiet time.Duration
	timer *time.Timer
	runs  sync.WaitGroup

	mu      sync.Mutex // guards stopped
	stopped bool
}

func newCheckpoint(db *sql.DB) *checkpoint {
	c := &checkpoint{db: db, quiet: quietTime}
	c.timer = time.AfterFunc(c.quiet, c.run)
	c.timer.Stop() // until the first write
	return c
}

// later puts it off: something is being recorded.
func (c *checkpoint) later() { c.timer.Reset(c.quiet) }

func (c *checkpoint) run() {
	if !c.begin() {
		return
	}
	defer c.runs.Done()
	// An error loses nothing: the log stays, and the next one or Close writes it back.
	_, _ = c.db.Exec("PRAGMA wal_checkpoint(PASSIVE)")
}

func (c *checkpoint) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		c.runs.Add(1)
	}
	return !c.stopped
}

// stop waits for one that runs; none begins after it.
func (c *checkpoint) stop() {
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	c.timer.Stop()
	c.runs.Wait()
}
