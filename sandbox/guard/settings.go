package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Ceilings of what a module's JSON file may ask for.
const (
	maxSettingsBytes = 64 << 10
	maxMemoryMB      = 64
	maxTimeoutMS     = 1000
)

// settings are how one module runs.
type settings struct {
	timeout     time.Duration
	memoryBytes uint64
	kinds       []guardsdk.Kind // nil: every kind that the module can answer
	config      json.RawMessage // handed to the module with each request
}

// settingsFile is NAME.json beside NAME.wasm.
type settingsFile struct {
	MemoryMB  int             `json:"memoryMB"`
	TimeoutMS int             `json:"timeoutMs"`
	Kinds     []guardsdk.Kind `json:"kinds"`
	Config    json.RawMessage `json:"config"`
}

// readSettings reads the file beside a module and gives its digest, empty when
// there is none. The digest is pinned with the module's: a looser setting weakens
// a rule as much as other code does.
func readSettings(path string, timeout time.Duration) (settings, string, error) {
	s := settings{timeout: timeout, memoryBytes: defaultMemoryMB << 20}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, "", nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettingsBytes {
		return s, "", fmt.Errorf("its settings (%s) must be an ordinary file of at most %d KiB", path, maxSettingsBytes>>10)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return s, "", fmt.Errorf("its settings cannot be read (%v)", reason(err))
	}
	file, err := parseSettings(data)
	if err != nil {
		return s, "", fmt.Errorf("its settings (%s): %w", path, err)
	}
	if file.MemoryMB != 0 {
		s.memoryBytes = uint64(file.MemoryMB) << 20
	}
	if file.TimeoutMS != 0 {
		s.timeout = time.Duration(file.TimeoutMS) * time.Millisecond
	}
	s.kinds, s.config = file.Kinds, file.Config
	return s, digestOf(data), nil
}

func parseSettings(data []byte) (settingsFile, error) {
	var file settingsFile
	if err := checkJSON(data); err != nil {
		return file, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return file, fmt.Errorf("%w; allowed are memoryMB, timeoutMs, kinds and config", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return file, errors.New("more than one JSON value")
	}
	if file.MemoryMB < 0 || file.MemoryMB > maxMemoryMB {
		return file, fmt.Errorf("memoryMB is %d; allowed is 1 to %d", file.MemoryMB, maxMemoryMB)
	}
	if file.TimeoutMS < 0 || file.TimeoutMS > maxTimeoutMS {
		return file, fmt.Errorf("timeoutMs is %d; allowed is 1 to %d", file.TimeoutMS, maxTimeoutMS)
	}
	for _, kind := range file.Kinds {
		if !knownKind(kind) {
			return file, fmt.Errorf("kinds has %q; allowed are pin, value and step", kind)
		}
	}
	return file, nil
}

var allKinds = []guardsdk.Kind{guardsdk.KindPin, guardsdk.KindValue, guardsdk.KindStep}

func knownKind(kind guardsdk.Kind) bool {
	return kind == guardsdk.KindPin || kind == guardsdk.KindValue || kind == guardsdk.KindStep
}
