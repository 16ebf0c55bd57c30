// Package sqlite keeps recordings and scenarios in one SQLite file. It is the
// only package that knows the driver, and never lets one of its types or
// messages about locks out.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/bir-run/bir/recorder/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// maxReaders bounds the connections that read beside the writer. Each has a page
// cache of its own, and a service for one user rarely has more readers than this.
const maxReaders = 4

var _ store.Store = (*Store)(nil)

// Store is an open database file.
//
// It has one connection that writes. SQLite takes one writer at a time anyway;
// waiting for a connection is fair, costs nothing and ends with the context,
// while waiting for a lock polls and may fail with "database is locked".
type Store struct {
	write      *sql.DB
	read       *sql.DB
	insertStep *sql.Stmt // what every recorded call runs
	insertMany *sql.Stmt // the same for rowsTogether steps
	checkpoint *checkpoint
	pending    *pending
}

// Open opens the database at path, creates it if it is not there, and brings its
// tables up to date. The file and its companions are readable by the user alone.
func Open(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := createPrivate(path); err != nil {
		return nil, err
	}
	s, err := open(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, translate(err))
	}
	return s, nil
}

func open(ctx context.Context, path string) (*Store, error) {
	write, err := sql.Open("sqlite", dsn(path, nil))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	if err := migrate(ctx, write); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	insertStep, err := write.PrepareContext(ctx, insertSteps(1))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	insertMany, err := write.PrepareContext(ctx, insertSteps(rowsTogether))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read, err := sql.Open("sqlite", dsn(path, []string{"query_only(1)"}))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(maxReaders)
	s := &Store{
		write: write, read: read, insertStep: insertStep, insertMany: insertMany,
		checkpoint: newCheckpoint(write), pending: newPending(path + "-steps"),
	}
	if err := s.prepare(ctx); err != nil {
		s.checkpoint.stop()
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	return s, nil
}

// Close waits for what is under way and writes the log back into the file.
func (s *Store) Close() error {
	err := s.finish()
	s.checkpoint.stop()
	// Readers go first: the last connection to close is the one that may empty
	// the write-ahead log.
	return errors.Join(err, s.read.Close(), s.insertStep.Close(), s.insertMany.Close(), s.write.Close())
}

// createPrivate makes the file before SQLite does, since SQLite would ask for
// 0644; the -wal and -shm files take their mode from it.
func createPrivate(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

// dsn is a file URI, so that a "?", "#" or "%" in the path stays part of it.
func dsn(path string, more []string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive: file:///C:/...
	}
	pragmas := append([]string{
		// Another process may hold the file for a moment (a backup, the sqlite3
		// shell); inside this one nothing ever waits for a lock.
		"busy_timeout(5000)",
		// Off unless asked for; deleting a run relies on it.
		"foreign_keys(1)",
		// Readers never wait for the writer, and a write is one append.
		"journal_mode(wal)",
		// In WAL mode a process that dies loses nothing at this level. A power cut
		// may lose the last moments but not the file's integrity; FULL would cost a
		// disk flush for every recorded step.
		"synchronous(normal)",
		// Pages. A burst is written to the log alone; see checkpoint.
		"wal_autocheckpoint(8192)",
		// The log shrinks back to this after a burst, 8 MiB.
		"journal_size_limit(8388608)",
	}, more...)
	query := url.Values{
		"_pragma": pragmas,
		// A transaction that reads first and then writes takes the lock at once,
		// instead of failing halfway because its snapshot is old.
		"_txlock": {"immediate"},
		// Messages name the operation that failed and not an earlier one.
		"_error_rc": {"1"},
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}).String()
}

func migrate(ctx context.Context, db *sql.DB) error {
	provider, err := newProvider(db)
	if err != nil {
		return err
	}
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > target {
		return fmt.Errorf("%w: it has schema %d, this one knows %d", store.ErrNewer, current, target)
	}
	_, err = provider.Up(ctx)
	return err
}

func newProvider(db *sql.DB) (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectSQLite3, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// inTx runs fn in a transaction of the writer. It keeps nothing of a failed one.
func (s *Store) inTx(ctx context.Context, fn func(*sql.Tx) error) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return translate(err)
	}
	if err := fn(tx); err != nil {
		// The rollback's own error says nothing new: the transaction is gone either way.
		_ = tx.Rollback()
		return translate(err)
	}
	return translate(tx.Commit())
}
