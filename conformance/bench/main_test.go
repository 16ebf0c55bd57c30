package bench

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/bir-run/bir/conformance/built"
)

// roleVar makes this test binary one of the programs that are measured.
const (
	roleVar    = "BENCH_ROLE"
	roleServer = "server"
	rolePump   = "pump"
)

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case roleServer:
		serve(os.Stdin, os.Stdout)
		return
	case rolePump:
		os.Exit(pump())
	}
	code := m.Run()
	if flag.Lookup("test.bench").Value.String() != "" {
		built.Remove()
	}
	os.Exit(code)
}

const (
	askHead    = `{"jsonrpc":"2.0","id":`
	askMiddle  = `,"method":"tools/call","params":{"name":"echo","arguments":{"size":`
	askTail    = "}}}\n"
	answerHead = `,"result":{"content":[{"type":"text","text":"`
	answerTail = `"}],"isError":false}}` + "\n"
)

func appendAsk(b []byte, id, size int) []byte {
	b = strconv.AppendInt(append(b, askHead...), int64(id), 10)
	b = strconv.AppendInt(append(b, askMiddle...), int64(size), 10)
	return append(b, askTail...)
}

func appendAnswer(b []byte, id, size int) []byte {
	b = strconv.AppendInt(append(b, askHead...), int64(id), 10)
	return append(append(append(b, answerHead...), text(size)...), answerTail...)
}

// text is what tools answer with: words, quotes and line ends, as it stands in a
// JSON string.
func text(size int) string {
	const line = `path/to/file.go: \"name\" 0x7f3a if err != nil { return café }\n`
	return strings.Repeat(line, size/len(line)+1)[:size/len(line)*len(line)] + strings.Repeat("x", size%len(line))
}

// serve says that it is there, then answers what appendAsk writes. After the first
// answer of a size it allocates nothing.
func serve(in io.Reader, out io.Writer) {
	fmt.Fprintln(out, `{"jsonrpc":"2.0","method":"notifications/ready"}`)
	tails := map[int]string{}
	var answer []byte
	for lines := bufio.NewScanner(in); lines.Scan(); {
		id, size, err := readAsk(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		if tails[size] == "" {
			tails[size] = answerHead + text(size) + answerTail
		}
		answer = append(append(append(answer[:0], askHead...), id...), tails[size]...)
		if _, err := out.Write(answer); err != nil {
			return
		}
	}
}

func readAsk(line []byte) (id []byte, size int, err error) {
	id, rest, _ := bytes.Cut(bytes.TrimPrefix(line, []byte(askHead)), []byte(askMiddle))
	digits, _, ok := bytes.Cut(rest, []byte("}"))
	if !ok {
		return nil, 0, fmt.Errorf("not a call: %q", line)
	}
	size, err = strconv.Atoi(string(digits))
	return id, size, err
}
