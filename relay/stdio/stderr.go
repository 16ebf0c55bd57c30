package stdio

import (
	"bufio"
	"errors"
	"io"
)

const maxStderrLine = 64 << 10

// copyLines copies a child's standard error line by line, each under the name of
// its server, in one write so that the lines of several servers do not mix. It goes
// on when w fails: a child must never block on a full pipe.
func copyLines(w io.Writer, r io.ReadCloser, name string) {
	defer r.Close()
	prefix := "[" + name + "] "
	in := bufio.NewReaderSize(r, maxStderrLine)
	var out []byte
	for {
		line, err := in.ReadSlice('\n')
		if len(line) > 0 {
			out = append(append(out[:0], prefix...), line...)
			if line[len(line)-1] != '\n' {
				out = append(out, '\n')
			}
			_, _ = w.Write(out)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
