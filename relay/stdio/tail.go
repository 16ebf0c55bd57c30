package stdio

import (
	"errors"
	"io"
	"os"
)

// maxTailBytes is the most that a pipe holds, unless root made it larger.
const maxTailBytes = 1 << 20

// pipe is our end of one of the child's two outputs. When the deadline of the tail has
// passed, what is in it by then is still read: that we are late is no reason to lose an
// answer, and whoever still holds the other end gets no more of our time.
type pipe struct {
	*os.File
	late int // bytes read behind the deadline
}

// Read reads until the end, or until nothing is there behind the deadline.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.File.Read(b)
	if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	if p.late >= maxTailBytes {
		return 0, io.EOF
	}
	n = readNow(p.File, b)
	if p.late += n; n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
