//go:build linux

package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// talk is a client without a terminal, at work on one prompt.
type talk struct {
	*lab
	cmd     *exec.Cmd
	stream  feed[string] // the lines that it writes
	stderr  bytes.Buffer // complete after end
	reading sync.WaitGroup
}

// begin starts the client on a prompt.
func (l *lab) begin(prompt string, args ...string) *talk {
	l.Helper()
	k := &talk{lab: l}
	k.cmd = exec.CommandContext(l.Context(), client(l), append([]string{"-p", prompt, "--output-format", "stream-json", "--verbose"}, args...)...)
	k.cmd.Dir, k.cmd.Env, k.cmd.Stderr = l.project, l.environ("dumb"), &k.stderr
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	k.cmd.Cancel = func() error { return syscall.Kill(-k.cmd.Process.Pid, syscall.SIGKILL) }
	k.cmd.WaitDelay = time.Second
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		l.Fatal(err)
	}
	if err := k.cmd.Start(); err != nil {
		l.Fatal(err)
	}
	// Ends with the client, which the end of the test kills.
	k.reading.Go(func() {
		defer k.stream.end()
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			k.stream.add(line)
		}
	})
	return k
}

// await waits until the client has written a line with a text in it.
func (k *talk) await(text string) {
	k.Helper()
	if !k.stream.await(func(lines []string) bool {
		return count(lines, func(l string) bool { return strings.Contains(l, text) }) > 0
	}) {
		k.Fatalf("the client did not write %q:\n%s", text, strings.Join(k.stream.all(), ""))
	}
}

// session is what a client that has ended left behind.
type session struct {
	ID    string
	Final string // its last answer
	Error bool
	Code  int
}

// end waits for the client to end.
func (k *talk) end() session {
	k.Helper()
	late := time.AfterFunc(2*patience, func() { _ = k.cmd.Cancel() })
	defer late.Stop()
	k.reading.Wait()
	_ = k.cmd.Wait() // it is the status that counts
	s := session{Code: k.cmd.ProcessState.ExitCode()}
	for _, line := range k.stream.all() {
		var m struct {
			Type      string
			SessionID string `json:"session_id"`
			Result    string
			IsError   bool `json:"is_error"`
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Type == "result" {
			s.ID, s.Final, s.Error = m.SessionID, m.Result, m.IsError
		}
	}
	if s.ID == "" {
		k.Fatalf("the client gave no result: %s\n%s", k.stderr.String(), strings.Join(k.stream.all(), ""))
	}
	return s
}

// prompt runs the client on one prompt, to its end, and expects its last answer.
func (l *lab) prompt(text, final string, args ...string) session {
	l.Helper()
	k := l.begin(text, args...)
	s := k.end()
	if s.Final != final || s.Code != 0 {
		l.Errorf("the client ended with %q and status %d, want %q\n%s", s.Final, s.Code, final, k.stderr.String())
	}
	return s
}

// command runs one of the client's own commands.
func (l *lab) command(args ...string) string {
	l.Helper()
	cmd := exec.CommandContext(l.Context(), client(l), args...)
	cmd.Dir, cmd.Env = l.project, l.environ("dumb")
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.Fatalf("claude %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
