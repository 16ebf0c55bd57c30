package corpus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
)

// asRelay makes a test binary a program between a pool and a real worker, which stops
// at each point of an evaluation and asks the test whether to go on:
//
//	test binary -as-relay ADDRESS WORKER ARGUMENTS...
const asRelay = "-as-relay"

// The points of an evaluation, in their order.
const (
	started         = "started"
	setupRead       = "the setup is read"
	greetingRead    = "the greeting is ready"
	halfTheGreeting = "half the greeting is given"
	questionRead    = "the question is read"
	inTheBody       = "the body runs"
	answerRead      = "the answer is ready"
	halfTheAnswer   = "half the answer is given"
	answerGiven     = "the answer is given"
)

// What the test answers.
const (
	goOn = 'g'
	die  = 'd'
)

// RelayIfAsked is for TestMain. Why a relay ended is of no use to anyone: to the pool it
// is a worker that was lost.
func RelayIfAsked(args []string, in io.Reader, out io.Writer) bool {
	at := slices.Index(args, asRelay)
	if at < 0 || len(args) < at+3 {
		return false
	}
	_ = relay(in, out, args[at+1], args[at+2:])
	return true
}

// between is a relay at work.
type between struct {
	test   net.Conn
	in     io.Reader // from the pool
	out    io.Writer
	worker *exec.Cmd
	to     io.WriteCloser // the worker
	from   io.Reader
}

func relay(in io.Reader, out io.Writer, address string, command []string) error {
	test, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	worker := exec.Command(command[0], command[1:]...)
	worker.Env = []string{}
	to, err1 := worker.StdinPipe()
	from, err2 := worker.StdoutPipe()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if err := worker.Start(); err != nil {
		return err
	}
	b := &between{test: test, in: in, out: out, worker: worker, to: to, from: from}
	err = b.run()
	_ = to.Close()
	return errors.Join(err, worker.Wait())
}

func (b *between) run() error {
	if err := b.ask(fmt.Sprintf("%d\n%s", b.worker.Process.Pid, started)); err != nil {
		return err
	}
	if err := b.exchange(setupRead, greetingRead, greetingRead, halfTheGreeting); err != nil {
		return err
	}
	for {
		err := b.exchange(questionRead, inTheBody, answerRead, halfTheAnswer)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = b.ask(answerGiven)
		}
		if err != nil {
			return err
		}
	}
}

// exchange brings one frame there and one back.
func (b *between) exchange(read, given, back, half string) error {
	frame, err := readFrame(b.in)
	if err != nil {
		return err
	}
	if err := b.ask(read); err != nil {
		return err
	}
	if _, err := b.to.Write(frame); err != nil {
		return err
	}
	if given != back {
		if err := b.ask(given); err != nil {
			return err
		}
	}
	if frame, err = readFrame(b.from); err != nil {
		return fmt.Errorf("the worker ended: %v", err) // not %w: its end is not ours
	}
	if err := b.ask(back); err != nil {
		return err
	}
	if _, err := b.out.Write(frame[:len(frame)/2]); err != nil {
		return err
	}
	if err := b.ask(half); err != nil {
		return err
	}
	_, err = b.out.Write(frame[len(frame)/2:])
	return err
}

// ask says where we are and does as it is told.
func (b *between) ask(point string) error {
	if _, err := fmt.Fprintln(b.test, point); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := io.ReadFull(b.test, answer[:]); err != nil {
		return fmt.Errorf("the test is gone: %v", err)
	}
	if answer[0] == die {
		return errors.New("told to end")
	}
	return nil
}

// readFrame is the length and what it counts.
func readFrame(in io.Reader) ([]byte, error) {
	frame := make([]byte, 4)
	if _, err := io.ReadFull(in, frame); err != nil {
		return nil, err
	}
	frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame))...)
	_, err := io.ReadFull(in, frame[4:])
	return frame, err
}
