// Package transcript reads what Claude Code writes about a session: the usage of
// each model, the reasoning before a tool call, the last answer. It only reads, and
// where a file is missing or was replaced it says "unmeasured" and never a number
// that may be wrong.
//
// A message is written as one line a content block, and each line repeats the whole
// message's usage; a forked session copies the lines of its parent. So messages are
// counted by their id, once over all files of the session, and never lines.
package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// synthetic is the model of lines that the client wrote itself, such as API errors.
const synthetic = "<synthetic>"

// Usage counts the tokens of one model.
type Usage struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
}

func (u Usage) plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheCreation + v.CacheCreation, u.CacheRead + v.CacheRead}
}

// message is one answer of a model.
type message struct {
	model string
	usage Usage
	at    time.Time // of its first line
}

// Ledger follows the files of one session: the transcript and those of its
// subagents. It reads each byte once. It is for one goroutine.
type Ledger struct {
	path     string
	files    map[string]*file
	messages map[string]message
	replaced int // how often a file turned out to be another one
}

// file is how far a transcript was read.
type file struct {
	info   os.FileInfo
	offset int64
}

// Open makes a ledger of the session whose transcript is at path. The file need not
// exist yet: Claude Code creates it after the first prompt.
func Open(path string) *Ledger {
	return &Ledger{path: path, files: map[string]*file{}, messages: map[string]message{}}
}

// Mark is a moment of a session from which usage is counted.
type Mark struct {
	seen     map[string]bool
	at       time.Time
	replaced int
}

// Mark reads what is new and takes the moment now.
func (l *Ledger) Mark(now time.Time) (Mark, error) {
	if err := l.update(); err != nil {
		return Mark{}, err
	}
	m := Mark{seen: make(map[string]bool, len(l.messages)), at: now, replaced: l.replaced}
	for id := range l.messages {
		m.seen[id] = true
	}
	return m, nil
}

// Since reads what is new and gives the usage of each model since the mark.
// measured is false when that cannot be known: the transcript is missing, or was
// replaced meanwhile.
func (l *Ledger) Since(m Mark) (byModel map[string]Usage, measured bool, err error) {
	if err := l.update(); err != nil {
		return nil, false, err
	}
	if l.files[l.path] == nil || l.replaced != m.replaced || m.seen == nil {
		return nil, false, nil
	}
	byModel = map[string]Usage{}
	for id, msg := range l.messages {
		// Lines from before the mark that were not there then were copied from the
		// session that this one was forked from.
		if !m.seen[id] && !msg.at.Before(m.at) {
			byModel[msg.model] = byModel[msg.model].plus(msg.usage)
		}
	}
	return byModel, true, nil
}

// update reads what was appended to any file of the session.
func (l *Ledger) update() error {
	sub := filepath.Join(strings.TrimSuffix(l.path, filepath.Ext(l.path)), "subagents", "agent-*.jsonl")
	paths, err := filepath.Glob(sub)
	if err != nil {
		return fmt.Errorf("list subagents: %w", err)
	}
	for _, path := range append([]string{l.path}, paths...) {
		if err := l.read(path); err != nil {
			return fmt.Errorf("read %s: %w", filepath.Base(path), err)
		}
	}
	return nil
}

func (l *Ledger) read(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		if l.files[path] != nil {
			delete(l.files, path)
			l.replaced++
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	from := l.position(path, info)
	if _, err := f.Seek(from.offset, io.SeekStart); err != nil {
		return err
	}
	read, err := eachLine(f, l.line)
	from.offset += read
	return err
}

// position is where to read on. A file that is another one, or shorter than what
// was read, starts again.
func (l *Ledger) position(path string, info os.FileInfo) *file {
	known := l.files[path]
	if known != nil && (!os.SameFile(known.info, info) || info.Size() < known.offset) {
		l.replaced++
		known = nil
	}
	if known == nil {
		known = &file{}
		l.files[path] = known
	}
	known.info = info
	return known
}

// line counts one line of a transcript.
func (l *Ledger) line(text []byte) {
	if !bytes.Contains(text, []byte(`"usage"`)) {
		return
	}
	fields := gjson.GetManyBytes(text, "type", "message.id", "message.model", "timestamp", "message.usage")
	id, model := fields[1].String(), fields[2].String()
	if fields[0].String() != "assistant" || id == "" || model == synthetic {
		return
	}
	at := fields[3].Time()
	if known, ok := l.messages[id]; ok {
		at = known.at
	}
	l.messages[id] = message{model: model, at: at, usage: usageOf(fields[4])}
}

func usageOf(u gjson.Result) Usage {
	return Usage{
		Input:         u.Get("input_tokens").Int(),
		Output:        u.Get("output_tokens").Int(),
		CacheCreation: u.Get("cache_creation_input_tokens").Int(),
		CacheRead:     u.Get("cache_read_input_tokens").Int(),
	}
}

// eachLine hands every whole line to use and returns how many bytes those had. A
// last line without its end is still being written and is left for the next time.
func eachLine(r io.Reader, use func([]byte)) (int64, error) {
	in := bufio.NewReaderSize(r, 256<<10)
	var read int64
	var long []byte // of a line that does not fit the buffer
	for {
		part, err := in.ReadSlice('\n')
		switch {
		case err == nil && long == nil:
			use(part)
			read += int64(len(part))
		case err == nil:
			long = append(long, part...)
			use(long)
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
