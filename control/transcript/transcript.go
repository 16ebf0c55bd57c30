// Package transcript reads what Claude Code writes about a session: the usage of
// each model, the reasoning before a tool call, the calls and their results, the last
// answer. It only reads, and where a file is missing or was replaced it says
// "unmeasured" and never a number that may be wrong.
//
// A message is written as one line a content block, and each line repeats the whole
// message's usage; a forked session copies the lines of its parent. So messages are
// counted by their id, once over all files of the session, and never lines.
package transcript

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bir-run/bir/recorder"
)

// Mark is where a turn begins in the transcript of its session. It is plain data, so
// that a reader can start there again after a crash.
type Mark struct {
	Path string    `json:"path"`
	At   time.Time `json:"at"`
	Size int64     `json:"size,omitempty"` // of the file at that moment
	Head string    `json:"head,omitempty"` // tells the file from another one
}

// Take marks the end of a transcript as it is now. The file need not exist yet:
// Claude Code creates it after the first prompt.
func Take(path string, now time.Time) Mark {
	m := Mark{Path: path, At: now}
	f, info, err := open(path)
	if err != nil {
		return m
	}
	defer f.Close()
	m.Size, m.Head = info.Size(), head(f, info.Size())
	return m
}

// errNoFile is something else under the name of a transcript.
var errNoFile = errors.New("not a regular file")

// open opens a regular file. Anything else may never answer: the host names the path,
// and a pipe would hold the hook up.
func open(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// headBytes is how much of a file tells it from another. The first line has the
// session's id and a time.
const headBytes = 1 << 10

// head digests the beginning of a file that has size bytes.
func head(f io.ReaderAt, size int64) string {
	text := make([]byte, min(size, headBytes))
	if n, err := f.ReadAt(text, 0); n < len(text) && err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Ledger follows the files of one session from a mark on: the transcript and those
// of its subagents. It reads each byte once. It is for one goroutine.
type Ledger struct {
	mark     Mark
	files    map[string]*file
	messages map[string]*message
	calls    map[string]*Call
	said     map[string]string // reasoning that nobody has taken, by tool use id
	agents   map[string]string // the prompt that each subagent served
	answer   string
	version  string
	asked    time.Time // when the main thread was last given something by a person or a hook
	replaced bool
}

// message is one answer of a model.
type message struct {
	model string
	usage recorder.Usage
	at    time.Time // of its first line
	agent string
}

// file is how far a transcript was read.
type file struct {
	path   string
	agent  string // empty for the main one
	info   os.FileInfo
	offset int64
	now    builder
}

// Open makes a ledger of the session from the mark on. Nothing is read yet.
func Open(mark Mark) *Ledger {
	return &Ledger{
		mark: mark, files: map[string]*file{}, messages: map[string]*message{},
		calls: map[string]*Call{}, said: map[string]string{}, agents: map[string]string{},
	}
}

// Read takes in what was appended to any file of the session.
func (l *Ledger) Read() error {
	if err := l.follow(l.mark.Path, ""); err != nil {
		return err
	}
	paths, err := filepath.Glob(filepath.Join(globEscape(agentsOf(l.mark.Path)), "agent-*.jsonl"))
	if err != nil {
		return fmt.Errorf("list subagents: %w", err)
	}
	for _, path := range paths {
		agent := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl")
		if err := l.follow(path, agent); err != nil {
			return err
		}
	}
	return nil
}

// agentsOf is where the subagents' files of a session are.
func agentsOf(path string) string {
	return filepath.Join(strings.TrimSuffix(path, filepath.Ext(path)), "subagents")
}

// globEscape spells a folder so that a pattern finds it and no other.
func globEscape(dir string) string {
	if filepath.Separator == '\\' {
		return dir // where nothing can be escaped
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// follow reads on in one file.
func (l *Ledger) follow(path, agent string) error {
	f, info, err := open(path)
	if errors.Is(err, os.ErrNotExist) {
		l.replaced = l.replaced || l.files[path] != nil || (agent == "" && l.mark.Size > 0)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	defer f.Close()
	known := l.files[path]
	if known == nil && agent != "" && info.ModTime().Before(l.mark.At.Add(-time.Second)) {
		return nil // of an earlier turn
	}
	from := l.position(known, &file{path: path, agent: agent, info: info}, f)
	if _, err := f.Seek(from.offset, io.SeekStart); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	read, err := eachLine(f, func(line []byte, at int64) { l.line(from, line, from.offset+at) })
	from.offset += read
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return nil
}

// position is where to read on. A file that is another one, or shorter than what was
// read, starts again, and nothing is measured any more.
func (l *Ledger) position(known, fresh *file, f io.ReaderAt) *file {
	size := fresh.info.Size()
	switch {
	case known == nil && fresh.agent == "" && l.mark.Size > 0:
		if size >= l.mark.Size && head(f, l.mark.Size) == l.mark.Head {
			fresh.offset = l.mark.Size
		} else {
			l.replaced = true
		}
	case known != nil && os.SameFile(known.info, fresh.info) && size >= known.offset:
		known.info = fresh.info
		return known
	case known != nil:
		l.replaced = true
	}
	l.files[fresh.path] = fresh
	return fresh
}

// Usage is what each model used since the mark, in the messages that the caller owns:
// of the main thread (agent "") or a subagent, by when they began. measured is false
// when that cannot be known: the transcript is missing or was replaced meanwhile.
func (l *Ledger) Usage(owns func(agent string, at time.Time) bool) (byModel map[string]recorder.Usage, measured bool) {
	if l.files[l.mark.Path] == nil || l.replaced {
		return nil, false
	}
	byModel = map[string]recorder.Usage{}
	for _, m := range l.messages {
		// Lines from before the mark that were not there then were copied from the
		// session that this one was forked from.
		if m.at.Before(l.mark.At) || !owns(m.agent, m.at) {
			continue
		}
		u := byModel[m.model]
		u.Input += m.usage.Input
		u.Output += m.usage.Output
		u.CacheCreation += m.usage.CacheCreation
		u.CacheRead += m.usage.CacheRead
		byModel[m.model] = u
	}
	return byModel, true
}

// Agents are the subagents that were at work since the mark, with the id of the prompt
// that they served.
func (l *Ledger) Agents() map[string]string { return l.agents }

// Has says whether a subagent's file was there.
func (l *Ledger) Has(agent string) bool {
	return l.files[filepath.Join(agentsOf(l.mark.Path), "agent-"+agent+".jsonl")] != nil
}

// Answer is the text of the last message of the main thread that called no tool.
func (l *Ledger) Answer() string { return l.answer }

// Version is the client's, as its lines say.
func (l *Ledger) Version() string { return l.version }

// Asked is when the main thread was last told something that was no tool's result: a
// prompt, or what a hook had to say to an answer.
func (l *Ledger) Asked() time.Time { return l.asked }

// Said gives the reasoning before each call that was read since it was last asked;
// it is empty before one that came without a word.
func (l *Ledger) Said() map[string]string {
	said := l.said
	l.said = map[string]string{}
	return said
}

// eachLine hands every whole line to use, with its place, and returns how many bytes
// those had. A last line without its end is still being written and is left for the
// next time.
func eachLine(r io.Reader, use func(line []byte, at int64)) (int64, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var read int64
	var long []byte // of a line that does not fit the buffer
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case err == nil && long == nil:
			use(part, read)
			read += int64(len(part))
		case err == nil:
			long = append(long, part...)
			use(long, read)
			read += int64(len(long))
			long = nil
		case errors.Is(err, bufio.ErrBufferFull):
			long = append(long, part...)
		case errors.Is(err, io.EOF):
			return read, nil
		default:
			return read, err
		}
	}
}
