package main

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/bir-run/bir/cmd/internal/env"
	"github.com/bir-run/bir/control/off"
	"github.com/bir-run/bir/relay/stdio"
)

// offSwitch says whether bir is off here.
type offSwitch struct {
	mu    sync.Mutex // guards watch. It is held while the file is read, twice a second at most
	watch off.Watch
}

func newOffSwitch(home, dir string) *offSwitch {
	return &offSwitch{watch: off.Watch{Home: home, Dir: dir}}
}

func (s *offSwitch) thrown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watch.Off(time.Now())
}

// startsOff says whether the proxy is to stay out of the way from the start.
func startsOff(e env.Env, dir string, log *slog.Logger) bool {
	if e.Off {
		return true
	}
	if e.Home == "" {
		return false // nothing is recorded then, either
	}
	state, err := off.Read(e.Home)
	if err != nil {
		log.Warn("read the off switch; bir stays on", "error", err)
	}
	return state.Off(dir)
}

// become runs the server itself, with nothing of ours in between.
func become(cfg config, e env.Env, streams [3]*os.File) int {
	status, err := stdio.Become(cfg.Command, e.Vars, streams)
	if err != nil {
		fmt.Fprintf(streams[2], "bir-proxy: %s\n", err)
		return startFailure(err)
	}
	return status
}
