// Package spool keeps what could not be sent: one append-only file per run in a
// folder that several processes share. It promises that a record is on disk when
// Append returns, that a run's records come back in the order they went in, and
// that a process that is killed in the middle loses no more than the batch it was
// writing. It does not know what a record means.
//
//	Append ──► <run>.log, one checksummed line a record ──► Drain ──► removed
//	  append.lock, for the write        drain.lock, while records are sent
//
// Why one drain lock for the folder? All its runs go to the same service, and two
// processes that send at once would mix up the order. Whoever has the lock drains
// for everyone, and a lock dies with its process. Where both locks are held, the
// drain lock came first.
package spool

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// MaxBytes is how large a folder gets by default.
const MaxBytes = 64 << 20

// essentialBytes is what essential records may take beyond the limit. They are
// small, and without them the others make no sense.
const essentialBytes = 1 << 20

const (
	logExt      = ".log"
	positionExt = ".pos"
)

// ErrFull is what Append returns when the folder has reached its limit.
var ErrFull = errors.New("spool is full")

// ErrBusy is what Drain returns while another process drains the folder.
var ErrBusy = errors.New("spool is being drained by another process")

// Config says where the spool is. A folder belongs to one service: what was meant
// for one must never be drained to another.
type Config struct {
	Dir      string
	MaxBytes int64 // of all files together; 0 for MaxBytes
}

// Spool is a folder of records. Its methods may be called from several goroutines.
type Spool struct {
	dir   string
	max   int64
	write func(f io.Writer, b []byte) error
}

// New returns the spool of a folder, which is made by the first Append.
func New(cfg Config) *Spool {
	s := &Spool{dir: cfg.Dir, max: cfg.MaxBytes, write: writeAll}
	if s.max <= 0 {
		s.max = MaxBytes
	}
	return s
}

func writeAll(f io.Writer, b []byte) error {
	_, err := f.Write(b)
	return err
}

// isRunID admits what recorder.NewID makes, and nothing with a path in it.
func isRunID(run string) bool {
	other := func(r rune) bool {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		return !letter && (r < '0' || r > '9') && r != '_' && r != '-'
	}
	return run != "" && len(run) <= 128 && strings.IndexFunc(run, other) < 0
}

// Append adds one batch of records to a run and returns when it is on disk. A
// record holds no newline. Past the limit only essential records are taken.
func (s *Spool) Append(run string, records [][]byte, essential bool) error {
	if !isRunID(run) {
		return fmt.Errorf("spool run: bad id %q", run)
	}
	batch, err := encode(records)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make spool: %w", err)
	}
	unlock, err := s.lockAppend()
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.makeRoom(int64(len(batch)), essential); err != nil {
		return err
	}
	return s.appendLocked(s.path(run, logExt), batch)
}

func (s *Spool) makeRoom(size int64, essential bool) error {
	used, err := s.used()
	if err != nil {
		return err
	}
	limit := s.max
	if essential {
		limit += essentialBytes
	}
	if used+size > limit {
		return ErrFull
	}
	return nil
}

func (s *Spool) appendLocked(path string, batch []byte) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open spool file: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, torn, err := tail(f)
	if err != nil {
		return err
	}
	if torn {
		batch = append([]byte("\n"), batch...) // the half line becomes a damaged one
	}
	if err := s.write(f, batch); err != nil {
		_ = f.Truncate(size) // best effort: a half line that stays is told by its checksum
		return fmt.Errorf("write spool file: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync spool file: %w", err)
	}
	if size == 0 {
		syncDir(s.dir)
	}
	return nil
}

// tail returns the size of the file and whether its last line has no end, which is
// what a writer leaves that was killed.
func tail(f *os.File) (size int64, torn bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, fmt.Errorf("size spool file: %w", err)
	}
	if info.Size() == 0 {
		return 0, false, nil
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return 0, false, fmt.Errorf("read spool file: %w", err)
	}
	return info.Size(), last[0] != '\n', nil
}

// Has says whether records of the run wait here, sent or not by whoever drains.
func (s *Spool) Has(run string) bool {
	_, err := os.Stat(s.path(run, logExt))
	return err == nil
}

// Runs lists the runs that wait, the oldest first.
func (s *Spool) Runs() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list spool: %w", err)
	}
	var runs []string
	for _, e := range entries { // in order of name, and ids sort by time
		if run, ok := strings.CutSuffix(e.Name(), logExt); ok && !e.IsDir() {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

func (s *Spool) used() (int64, error) {
	runs, err := s.Runs()
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, run := range runs {
		if info, err := os.Stat(s.path(run, logExt)); err == nil { // gone: drained meanwhile
			sum += info.Size()
		}
	}
	return sum, nil
}

func (s *Spool) path(run, ext string) string { return filepath.Join(s.dir, run+ext) }

func (s *Spool) lockAppend() (unlock func(), err error) {
	lock := flock.New(filepath.Join(s.dir, "append.lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return nil, fmt.Errorf("lock spool: %w", err)
	}
	return func() { lock.Unlock() }, nil
}

// encode makes lines of the records: a checksum, a space, the record.
func encode(records [][]byte) ([]byte, error) {
	var b bytes.Buffer
	for _, r := range records {
		if bytes.IndexByte(r, '\n') >= 0 {
			return nil, errors.New("spool record: holds a newline")
		}
		fmt.Fprintf(&b, "%08x ", crc32.ChecksumIEEE(r))
		b.Write(r)
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

// decode returns the record of a whole line, nil when it was damaged.
func decode(line []byte) []byte {
	sum, record, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
	want, err := strconv.ParseUint(string(sum), 16, 32)
	if !ok || err != nil || crc32.ChecksumIEEE(record) != uint32(want) {
		return nil
	}
	return record
}
