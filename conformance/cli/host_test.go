package cli

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// hostSession is the command `session FILE COMMAND ARGS...`: it starts COMMAND as
// an MCP server, writes the lines of FILE, and waits for the answer to each request
// before the next line, as a host does.
func hostSession(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: session FILE COMMAND ARGS...")
	}
	program, err := exec.LookPath(args[1])
	for _, kv := range strings.Split(ts.Getenv("PATH"), ":") {
		if err != nil {
			program, err = exec.LookPath(kv + "/" + args[1])
		}
	}
	ts.Check(err)
	cmd := exec.Command(program, args[2:]...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "BIR_HOME=" + ts.Getenv("BIR_HOME"), "HOME=" + ts.Getenv("WORK")}
	in, err := cmd.StdinPipe()
	ts.Check(err)
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	talk(ts, ts.ReadFile(args[0]), in, bufio.NewReader(out))
	ts.Check(in.Close())
	ts.Check(cmd.Wait())
}

func talk(ts *testscript.TestScript, lines string, in io.Writer, out *bufio.Reader) {
	for line := range strings.Lines(lines) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		_, err := io.WriteString(in, line)
		ts.Check(err)
		var sent, got struct{ ID *json.RawMessage }
		ts.Check(json.Unmarshal([]byte(line), &sent))
		for sent.ID != nil && (got.ID == nil || string(*got.ID) != string(*sent.ID)) {
			answer, err := out.ReadBytes('\n')
			ts.Check(err)
			ts.Logf("%s", answer)
			got.ID = nil
			ts.Check(json.Unmarshal(answer, &got))
		}
	}
}
