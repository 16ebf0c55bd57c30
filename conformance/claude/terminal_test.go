//go:build linux

package claude

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Keys of a terminal.
const (
	keyEnter  = "\r"
	keyEscape = "\x1b"
	keyErase  = "\x15"
)

// terminal is the client in a terminal, with the test before it.
type terminal struct {
	*lab
	cmd    *exec.Cmd
	master *os.File
	screen feed[byte] // everything drawn so far
	mark   int        // where the next look begins, in what is drawn
	ended  sync.WaitGroup
}

// sit starts the client in a terminal and waits until it takes a prompt.
func (l *lab) sit(args ...string) *terminal {
	l.Helper()
	master, slave := pty(l)
	tm := &terminal{lab: l, master: master}
	tm.cmd = exec.Command(client(l), args...)
	tm.cmd.Dir, tm.cmd.Env = l.project, l.environ("xterm-256color")
	tm.cmd.Stdin, tm.cmd.Stdout, tm.cmd.Stderr = slave, slave, slave
	// A session of its own is also a process group of its own.
	tm.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0, Pdeathsig: syscall.SIGKILL}
	if err := tm.cmd.Start(); err != nil {
		l.Fatal(err)
	}
	slave.Close()
	// Ends when the client, and with it the other side of the terminal, is gone.
	tm.ended.Go(tm.watch)
	l.Cleanup(tm.end)
	tm.await("? for shortcuts")
	// The first prompt tells the model which servers are there by then.
	l.upstream.await(l, "the question for its tools", len(l.names), func(s told) bool { return strings.Contains(s.Out, `"tools":[`) })
	tm.enter("/mcp", "✔ connected")
	tm.press(keyEscape, "? for shortcuts")
	return tm
}

// pty opens a terminal of 160 columns.
func pty(t testing.TB) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this system gives no terminals: %v", err)
	}
	var number int
	err = control(master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	err = control(slave, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: 160})
	})
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// control uses a file's descriptor without making the file block.
func control(f *os.File, use func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = use(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// watch keeps what the client draws, until there is nobody to draw.
func (tm *terminal) watch() {
	defer tm.screen.end()
	buf := make([]byte, 32<<10)
	for {
		n, err := tm.master.Read(buf)
		tm.screen.add(buf[:n]...)
		if err != nil {
			return
		}
	}
}

// end kills what is left of the client.
func (tm *terminal) end() {
	_ = syscall.Kill(-tm.cmd.Process.Pid, syscall.SIGKILL) // one that has ended is not there
	_ = tm.cmd.Wait()                                      // its status says nothing
	tm.master.Close()
	tm.ended.Wait()
}

// press sends keys until the client shows that it took them: it drops what comes in
// the first moment of a dialog, or of its own.
func (tm *terminal) press(keys, shows string) {
	tm.Helper()
	tm.mark = len(drawn(tm.screen.all()))
	for range tries {
		if _, err := tm.master.WriteString(keys); err != nil {
			tm.Fatal(err)
		}
		if tm.shows(shows, patience/tries) {
			return
		}
	}
	tm.never(shows)
}

func (tm *terminal) never(shows string) {
	tm.Helper()
	all := drawn(tm.screen.all())
	tm.Fatalf("the client never showed %q:\n%s", shows, all[max(0, len(all)-4000):])
}

// tries is how often a key is pressed: as seldom as patience allows, since a client
// that is only slow gets it twice.
const tries = 12

// enter types a line, after taking back what may stand there, and sends it.
func (tm *terminal) enter(line, shows string) {
	tm.Helper()
	tm.press(keyErase+line, line)
	tm.press(keyEnter, shows)
}

// turn enters a prompt and waits for the answer and the end of the turn.
func (tm *terminal) turn(prompt, answer string) {
	tm.Helper()
	tm.enter(prompt, answer)
	tm.await("· done")
}

// leave ends the client as a person does, and waits for it.
func (tm *terminal) leave() {
	tm.Helper()
	tm.press(keyErase+"/exit", "/exit")
	for range tries {
		_, _ = tm.master.WriteString(keyEnter) // what counts is that it ends
		if tm.screen.over(patience / tries) {
			return
		}
	}
	tm.Fatal("the client does not leave")
}

// await waits until a text is drawn after what was last waited for.
func (tm *terminal) await(text string) {
	tm.Helper()
	if !tm.shows(text, patience) {
		tm.never(text)
	}
}

func (tm *terminal) shows(text string, within time.Duration) bool {
	text = drawn([]byte(text))
	return tm.screen.within(within, func(screen []byte) bool {
		all := drawn(screen)
		i := strings.Index(all[min(tm.mark, len(all)):], text)
		if i >= 0 {
			tm.mark += i + len(text)
		}
		return i >= 0
	})
}

// sequences are what moves the cursor, colours and titles.
var sequences = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])`)

// drawn is text without sequences and white space: a client that draws only what has
// changed jumps over the blanks.
func drawn(screen []byte) string {
	return strings.Join(strings.Fields(string(sequences.ReplaceAll(screen, nil))), "")
}
