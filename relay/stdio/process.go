// Package stdio starts an MCP server as a child process and ends it by the steps
// of the stdio transport. It owns the child, everything the child starts in its
// process group, and the three pipes. It must never leave a process behind, and
// never looks at the bytes that pass.
package stdio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// The bounds of a shutdown (R11). Of its ten seconds they leave the rest to those
// who deliver the last answers and close the record.
const (
	drainTimeout = 5 * time.Second // for the child to end by itself once its input ended
	termTimeout  = 2 * time.Second
	killTimeout  = time.Second / 2
	// tailTimeout bounds the wait for output behind a child that has ended. Its
	// group is dead by then, so only a process that left the group can hold the pipe.
	tailTimeout = 200 * time.Millisecond
)

// Config says what to start.
type Config struct {
	Command []string
	Dir     string   // empty means ours
	Env     []string // nil means ours
	Name    string   // prefixes each line of the child's standard error
	Stderr  io.Writer
}

// Process is a running child. Read and Write are its standard output and input.
type Process struct {
	cmd    *exec.Cmd
	name   string
	in     *os.File
	out    *pipe
	group  group
	stderr sync.WaitGroup
	exited chan struct{}
	status int // set before exited is closed
}

// Start starts the command in a process group of its own. When ctx ends, the
// group is killed at once; Stop is the polite way.
func Start(ctx context.Context, cfg Config) (*Process, error) {
	if len(cfg.Command) == 0 {
		return nil, errors.New("no command")
	}
	p := &Process{name: cfg.Name, exited: make(chan struct{})}
	cmd, err := command(cfg.Command, cfg.Env)
	if err != nil {
		return nil, err
	}
	cmd.Dir, cmd.Env = cfg.Dir, cfg.Env
	p.cmd = cmd
	theirs, err := p.pipes()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	// Ends when the child has ended.
	go p.run(ctx, started, theirs, cfg.Stderr)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// pipes makes the child's ends its standard streams and returns the files to close
// here once it has them. os.Pipe rather than cmd.StdinPipe: Wait must not close an
// end that still holds an answer.
func (p *Process) pipes() (theirs []*os.File, err error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make pipe: %w", err), inR.Close(), inW.Close())
	}
	p.in, p.out = inW, &pipe{File: outR}
	p.cmd.Stdin, p.cmd.Stdout = inR, outW
	return []*os.File{inR, outW}, nil
}

// run starts the child and waits for it, on one thread from beginning to end:
// the kernel ties the child's parent-death signal to the thread that forked it.
func (p *Process) run(ctx context.Context, started chan<- error, theirs []*os.File, stderr io.Writer) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	errR, err := p.start(theirs, stderr)
	if err != nil {
		p.in.Close()
		p.out.Close()
		started <- err
		return
	}
	started <- nil
	// Not exec.CommandContext: it would kill the child and leave the group.
	unwatch := context.AfterFunc(ctx, func() { _ = p.group.kill() })
	_ = p.cmd.Wait() // how it ended is in ProcessState
	unwatch()
	p.status = exitStatus(p.cmd.ProcessState)
	// A grandchild must not survive the child (R11).
	_ = p.group.kill()
	p.group.release()
	tail := time.Now().Add(tailTimeout)
	_ = p.out.SetReadDeadline(tail)
	if errR != nil {
		_ = errR.SetReadDeadline(tail)
		p.stderr.Wait()
	}
	close(p.exited)
}

func (p *Process) start(theirs []*os.File, stderr io.Writer) (errR *os.File, err error) {
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if stderr != nil {
		var errW *os.File
		if errR, errW, err = os.Pipe(); err != nil {
			return nil, fmt.Errorf("make pipe: %w", err)
		}
		p.cmd.Stderr = errW
		theirs = append(theirs, errW)
	}
	p.group.prepare(p.cmd)
	if err := p.cmd.Start(); err != nil {
		p.group.release()
		if errR != nil {
			errR.Close()
		}
		return nil, fmt.Errorf("start %s: %w", p.cmd.Path, err)
	}
	p.group.started(p.cmd.Process)
	if errR != nil {
		p.stderr.Go(func() { copyLines(stderr, &pipe{File: errR}, p.name) }) // ends with the child's standard error
	}
	return errR, nil
}

// Read reads the child's standard output. What a child wrote before it ended can
// be read after.
func (p *Process) Read(b []byte) (int, error) {
	return p.out.Read(b)
}

// Write writes to the child's standard input.
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }

// CloseWrite ends the child's standard input.
func (p *Process) CloseWrite() error { return p.in.Close() }

// Signal passes a signal on to the child's process group.
func (p *Process) Signal(sig os.Signal) {
	select {
	case <-p.exited: // the group's number may be another's by now
	default:
		_ = p.group.signal(sig)
	}
}

// Exited is closed when the child and its group have ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// Status is the child's exit status, 128 + signal when it died of one. It holds
// once Exited is closed.
func (p *Process) Status() int { return p.status }

// Stop ends the child by the steps of the stdio transport and returns when it is
// gone. What the child still says meanwhile can be read. Calling it again is fine.
func (p *Process) Stop() {
	// "First, closing the input stream to the child process (the server)"
	_ = p.CloseWrite()
	if p.ends(drainTimeout) {
		return
	}
	// "Sending SIGTERM if the server does not exit within a reasonable time"
	_ = p.group.terminate()
	if p.ends(termTimeout) {
		return
	}
	// "Sending SIGKILL if the server does not exit within a reasonable time after SIGTERM"
	_ = p.group.kill()
	p.ends(killTimeout)
}

func (p *Process) ends(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

// Close gives back our end of the child's output. Call it last.
func (p *Process) Close() error { return p.out.Close() }
