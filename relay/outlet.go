package relay

import (
	"bytes"
	"io"
	"sync"
)

// seam writes the stream of one direction, and lines of ours between two of its
// lines, never into one.
type seam struct {
	to      io.Writer
	midLine bool   // the last line has no end yet
	ours    []byte // waits for that end
}

// Write passes a piece of the stream on.
func (s *seam) Write(b []byte) (n int, err error) {
	if len(s.ours) > 0 {
		if end := bytes.IndexByte(b, '\n') + 1; end > 0 {
			if n, err = s.to.Write(b[:end]); err == nil {
				err = s.flush()
			}
			b = b[end:]
		}
	}
	if len(b) == 0 || err != nil {
		return n, err
	}
	s.midLine = b[len(b)-1] != '\n'
	more, err := s.to.Write(b)
	return n + more, err
}

// insert puts a line of ours in, now or behind the line under way.
func (s *seam) insert(line []byte) error {
	if s.midLine {
		s.ours = append(s.ours, line...)
		return nil
	}
	_, err := s.to.Write(line)
	return err
}

// endLine ends a line that will not go on.
func (s *seam) endLine() error {
	if !s.midLine {
		return nil
	}
	if _, err := s.to.Write([]byte("\n")); err != nil {
		return err
	}
	return s.flush()
}

func (s *seam) flush() error {
	ours := s.ours
	s.ours, s.midLine = nil, false
	if len(ours) == 0 {
		return nil
	}
	_, err := s.to.Write(ours)
	return err
}

// outlet is the stream to the host, into which several put lines of ours.
type outlet struct {
	mu sync.Mutex // guards seam, and writing
	seam
}

func (o *outlet) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seam.Write(b)
}

func (o *outlet) insert(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seam.insert(line)
}

func (o *outlet) endLine() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seam.endLine()
}
