package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/store"
)

// journal is a file of lists of steps, one behind the other. A list is in it once its
// write has returned: a process that dies after that loses nothing, as with the
// database's own log, and after a power cut the last lists may be missing, as there.
//
//	head │ length, sum │ run, count, steps │ length, sum │ ...
//
// What follows the last whole list was never answered, and is written over.
type journal struct {
	path string
	file *os.File // nil until the first list
	size int64    // of what is whole, the head included; 0 without any
	line []byte   // the list under way; its memory is used again
}

const (
	// journalHead says what the file is, and its last byte in which version.
	journalHead = "birsteps\x01"
	listHead    = 8
	// maxListBytes bounds what is believed of a length that was read.
	maxListBytes = 64 << 20
	// keptLineBytes is how large the memory for a list may stay.
	keptLineBytes = 1 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// add writes a list, or nothing of it.
func (j *journal) add(runID string, steps []recorder.Step) error {
	b := append(j.line[:0], make([]byte, listHead)...)
	b = appendText(b, runID)
	b = binary.AppendUvarint(b, uint64(len(steps)))
	for i := range steps {
		b = appendStep(b, &steps[i])
	}
	if j.line = b; cap(b) > keptLineBytes {
		j.line = nil
	}
	if len(b)-listHead > maxListBytes {
		return errors.New("the list is too long for the journal")
	}
	binary.LittleEndian.PutUint32(b, uint32(len(b)-listHead))
	binary.LittleEndian.PutUint32(b[4:], crc32.Checksum(b[listHead:], castagnoli))
	if err := j.begin(); err != nil {
		return full(err)
	}
	if _, err := j.file.WriteAt(b, j.size); err != nil {
		return full(err) // the next list is written over what there is of this one
	}
	j.size += int64(len(b))
	return nil
}

// begin makes the file, and its head.
func (j *journal) begin() (err error) {
	if j.file == nil {
		if j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return err
		}
	}
	if j.size == 0 {
		if _, err = j.file.WriteAt([]byte(journalHead), 0); err == nil {
			j.size = int64(len(journalHead))
		}
	}
	return err
}

// full puts the store's error in place of the system's.
func full(err error) error {
	if noSpace(err) {
		return fmt.Errorf("%w (%v)", store.ErrFull, err)
	}
	return fmt.Errorf("write the journal: %w", err)
}

// recover opens a journal that a process left behind, if there is one.
func (j *journal) recover() error {
	file, err := os.OpenFile(j.path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	j.file = file
	info, err := file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, min(int64(len(journalHead)), info.Size()))
	if _, err := file.ReadAt(head, 0); err != nil {
		return err
	}
	switch {
	case string(head) == journalHead:
		j.size = info.Size()
		j.size, err = j.each(func(string, []recorder.Step) error { return nil })
		return err
	case len(head) == len(journalHead) && string(head[:len(head)-1]) == journalHead[:len(head)-1]:
		return fmt.Errorf("%w: its journal has version %d", store.ErrNewer, head[len(head)-1])
	}
	return nil // of one without a head nothing was answered
}

// each calls visit with each list, and says where those that are whole end.
func (j *journal) each(visit func(runID string, steps []recorder.Step) error) (end int64, err error) {
	end = int64(len(journalHead))
	var head [listHead]byte
	var list []byte
	for end+listHead <= j.size {
		if _, err := j.file.ReadAt(head[:], end); err != nil {
			return end, fmt.Errorf("read the journal: %w", err)
		}
		length := int64(binary.LittleEndian.Uint32(head[:]))
		if length > maxListBytes || end+listHead+length > j.size {
			break
		}
		list = slices.Grow(list[:0], int(length))[:length]
		if _, err := j.file.ReadAt(list, end+listHead); err != nil {
			return end, fmt.Errorf("read the journal: %w", err)
		}
		runID, steps, ok := readList(string(list))
		if !ok || crc32.Checksum(list, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
			break
		}
		if err := visit(runID, steps); err != nil {
			return end, err
		}
		end += listHead + length
	}
	return end, nil
}

// clear drops all lists. What cannot be dropped is booked again, which changes nothing.
func (j *journal) clear() error {
	j.size = 0
	if j.file == nil {
		return nil
	}
	return j.file.Truncate(0)
}

// close lets go of the file, and of an empty one altogether.
func (j *journal) close() error {
	if j.file == nil {
		return nil
	}
	err := j.file.Close()
	if j.file = nil; j.size == 0 {
		err = errors.Join(err, os.Remove(j.path))
	}
	return err
}

func appendText[T ~string](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendStep appends in the order of stepColumns.
func appendStep(b []byte, s *recorder.Step) []byte {
	b = appendText(b, s.ID)
	b = binary.AppendVarint(b, int64(s.StepIndex))
	b = appendText(b, s.Type)
	for _, text := range [...]string{
		s.CallID, s.ToolName, s.ServerName, s.UpstreamTool, s.ToolInput, s.ToolOutput, s.ToolError, s.Context, s.Answer,
	} {
		b = appendText(b, text)
	}
	b = appendText(b, s.Status)
	b = binary.AppendVarint(b, nanos(s.StartedAt))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.DurationMS))
	for _, text := range [...]string{s.AskedInput, s.AgentID, s.AgentType} {
		b = appendText(b, text)
	}
	return binary.AppendVarint(b, int64(s.Attempts))
}

// readList is false for what no list is. The steps share the text's memory.
func readList(text string) (runID string, steps []recorder.Step, ok bool) {
	r := listReader{rest: text, ok: true}
	runID = r.text()
	count := r.number()
	for ; count > 0 && r.ok; count-- {
		steps = append(steps, r.step())
	}
	return runID, steps, r.ok && r.rest == ""
}

// listReader takes a list apart. After what is none it reads zeros.
type listReader struct {
	rest string
	ok   bool
}

func (r *listReader) take(n uint64) (taken string) {
	if n > uint64(len(r.rest)) {
		r.rest, r.ok = "", false
		return ""
	}
	taken, r.rest = r.rest[:n], r.rest[n:]
	return taken
}

func (r *listReader) number() uint64 {
	n, size := binary.Uvarint(r.ahead())
	r.skip(size)
	return n
}

func (r *listReader) signed() int64 {
	n, size := binary.Varint(r.ahead())
	r.skip(size)
	return n
}

// ahead is as much as a number may take.
func (r *listReader) ahead() []byte {
	return []byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)])
}

// skip passes over a number; one without an end, or that is too large, has no size.
func (r *listReader) skip(size int) {
	if size <= 0 {
		r.rest, r.ok = "", false
		return
	}
	r.rest = r.rest[size:]
}

func (r *listReader) float() float64 {
	b := r.take(8)
	if b == "" {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64([]byte(b)))
}

func (r *listReader) text() string { return r.take(r.number()) }

func (r *listReader) step() (s recorder.Step) {
	s.ID, s.StepIndex, s.Type = r.text(), int(r.signed()), recorder.StepType(r.text())
	for _, text := range [...]*string{
		&s.CallID, &s.ToolName, &s.ServerName, &s.UpstreamTool, &s.ToolInput, &s.ToolOutput, &s.ToolError, &s.Context, &s.Answer,
	} {
		*text = r.text()
	}
	s.Status, s.StartedAt, s.DurationMS = recorder.Status(r.text()), fromNanos(r.signed()), r.float()
	for _, text := range [...]*string{&s.AskedInput, &s.AgentID, &s.AgentType} {
		*text = r.text()
	}
	s.Attempts = int(r.signed())
	return s
}
