package wasmhost

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/tetratelabs/wazero/sys"
)

const (
	setupBytes = 1 << 12
	helloBytes = 1 << 16
	// restBytes is what a guest has in memory before its first body, with room.
	restBytes = 48 << 20
)

// GuestExit is how a guest ended that was not asked to.
type GuestExit struct {
	Code   int
	Reason string // of a guest that could not say it itself
}

func (e *GuestExit) Error() string {
	if e.Reason != "" {
		return e.Reason
	}
	return fmt.Sprintf("the evaluator exited with code %d", e.Code)
}

// crashed is the code of a Go program that its runtime ends: what becomes of a guest
// that WebAssembly itself stops, too.
const crashed = 2

// Serve is worker.Serve for a guest: it answers requests from in on out until in
// ends. confine is called when nothing has to be opened any more, before the guest
// first runs.
func Serve(ctx context.Context, cacheDir string, in io.Reader, out, errs io.Writer, confine func(wire.Setup) []string) error {
	in = bufio.NewReader(in)
	var setup wire.Setup
	if err := wire.Read(in, setupBytes, &setup); err != nil {
		return fmt.Errorf("read setup: %w", err)
	}
	m, err := load(ctx, cacheDir, uint32((restBytes+2*setup.MemoryBytes)/pageBytes))
	if err != nil {
		return err
	}
	first, err := wire.Encode(setup)
	if err != nil {
		return fmt.Errorf("encode setup: %w", err)
	}
	ended := make(chan error, 2) // one for each that sends
	questions := &questions{frames: make(chan []byte), now: first}
	answers := &answers{out: out}
	guest, err := m.instantiate(ctx, questions, answers, errs)
	if err != nil {
		return fmt.Errorf("start the evaluator: %w", err)
	}
	answers.held = append([]string{"WebAssembly memory"}, confine(setup)...)
	// Neither is waited for: a body may never return and a read may never end, but
	// the process does when Serve returns.
	go func() { ended <- questions.relay(in, out, setup.FrameBytes) }()
	go func() {
		_, err := guest.ExportedFunction("_start").Call(ctx)
		ended <- exitOf(err)
	}()
	if err := <-ended; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func exitOf(err error) error {
	var exit *sys.ExitError
	if errors.As(err, &exit) {
		return &GuestExit{Code: int(exit.ExitCode())}
	}
	if err != nil {
		return &GuestExit{Code: crashed, Reason: err.Error()}
	}
	return &GuestExit{Reason: "the evaluator ended by itself"}
}
