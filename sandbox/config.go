package sandbox

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Config says how bodies are run. The zero value is the documented default.
type Config struct {
	Command        []string      // starts a worker; default: bir-sandbox beside this program
	Level          Level         // default: auto
	CacheDir       string        // of what is compiled for level wasm; empty: auto has level process alone
	Size           int           // workers at once; default: the cores, at most 2
	Timeout        time.Duration // of one evaluation; default 1s, at most 10m
	StartTimeout   time.Duration // of a worker's start; default 10s, and a minute at level wasm
	MemoryBytes    int64         // of one evaluation; default 64 MB
	ArgBytes       int64         // of the arguments together; default 4 MB
	ResultBytes    int64         // of the result; default 1 MB
	MaxEvaluations int           // after which a worker is replaced; default 2000
	Logger         *slog.Logger  // default: discard
}

const (
	defaultTimeout = time.Second
	// maxTimeout is for mistakes. What people may ask for is bounded where it is read.
	maxTimeout            = 10 * time.Minute
	defaultMemoryBytes    = 64 << 20
	defaultArgBytes       = 4 << 20
	defaultResultBytes    = 1 << 20
	defaultMaxEvaluations = 2000
	maxBodyBytes          = 1 << 20
	// A start takes milliseconds, at level wasm half a second; a machine may be loaded.
	defaultStartTimeout     = 10 * time.Second
	defaultWasmStartTimeout = time.Minute
	// escapeFactor is the most that a byte of text grows by as JSON.
	escapeFactor = 6
	// frameSlack is what a frame holds besides its values: names, console, numbers.
	frameSlack = 1 << 20
)

func (c Config) withDefaults() Config {
	if len(c.Command) == 0 {
		c.Command = []string{besideThisProgram("bir-sandbox")}
	}
	if c.Level == "" {
		c.Level = LevelAuto
	}
	c.Size = orDefault(c.Size, min(2, runtime.NumCPU()))
	c.Timeout = min(orDefault(c.Timeout, defaultTimeout), maxTimeout)
	c.MemoryBytes = orDefault(c.MemoryBytes, defaultMemoryBytes)
	c.ArgBytes = orDefault(c.ArgBytes, defaultArgBytes)
	c.ResultBytes = orDefault(c.ResultBytes, defaultResultBytes)
	c.MaxEvaluations = orDefault(c.MaxEvaluations, defaultMaxEvaluations)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// startTimeout is how long a worker of a level may take to be ready.
func (c Config) startTimeout(level Level) time.Duration {
	if level == LevelWasm {
		return orDefault(c.StartTimeout, defaultWasmStartTimeout)
	}
	return orDefault(c.StartTimeout, defaultStartTimeout)
}

// timeout is how long a body may run.
func (c Config) timeout(body Body) time.Duration {
	return min(orDefault(body.Timeout, c.Timeout), maxTimeout)
}

func orDefault[T int | int64 | time.Duration](value, otherwise T) T {
	if value <= 0 {
		return otherwise
	}
	return value
}

// besideThisProgram is where an installation keeps its other programs.
func besideThisProgram(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	self, err := os.Executable()
	if err != nil {
		return name // found through PATH, or said to be missing when it starts
	}
	return filepath.Join(filepath.Dir(self), name)
}

// requestBytes is the largest frame to a worker.
func (c Config) requestBytes() int64 {
	return escapeFactor*(c.ArgBytes+maxBodyBytes) + frameSlack
}

// responseBytes is the largest frame from a worker.
func (c Config) responseBytes() int64 { return c.ResultBytes + frameSlack }
