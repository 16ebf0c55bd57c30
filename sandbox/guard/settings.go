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

	"github.com/bir-run/bir/sandbox/guard/harden"
	"github.com/bir-run/bir/sandbox/guardsdk"
)

// Ceilings of what a module's settings may ask for.
const (
	maxSettingsBytes = 64 << 10
	maxMemoryMB      = 64
	maxTimeoutMS     = 1000
)

// settingsSection is the custom section in which a module may carry settings of its
// own, as JSON of the same form as the file beside it.
const settingsSection = "bir.guard"

// settings are how one module runs.
type settings struct {
	timeout     time.Duration
	memoryBytes uint64
	kinds       []guardsdk.Kind // nil: every kind that the module can answer
	config      json.RawMessage // compact; handed to the module with each request
}

// settingsFile is NAME.json beside NAME.wasm, or the module's own section.
type settingsFile struct {
	MemoryMB  int             `json:"memoryMB"`
	TimeoutMS int             `json:"timeoutMs"`
	Kinds     []guardsdk.Kind `json:"kinds"`
	Config    json.RawMessage `json:"config"`
}

func defaultSettings(timeout time.Duration) settings {
	return settings{timeout: timeout, memoryBytes: defaultMemoryMB << 20}
}

// with takes over what the file says.
func (s settings) with(file settingsFile) settings {
	if file.MemoryMB != 0 {
		s.memoryBytes = uint64(file.MemoryMB) << 20
	}
	if file.TimeoutMS != 0 {
		s.timeout = time.Duration(file.TimeoutMS) * time.Millisecond
	}
	if file.Kinds != nil {
		s.kinds = file.Kinds
	}
	if file.Config != nil {
		s.config = file.Config
	}
	return s
}

// carriedBy adds what the module's author put into it.
func (s settings) carriedBy(code []byte) (settings, error) {
	data, err := harden.Custom(code, settingsSection)
	if err != nil || data == nil {
		return s, err
	}
	if len(data) > maxSettingsBytes {
		return s, fmt.Errorf("its section %s has more than %d KiB", settingsSection, maxSettingsBytes>>10)
	}
	file, err := parseSettings(data)
	if err != nil {
		return s, fmt.Errorf("its section %s: %w", settingsSection, err)
	}
	return s.with(file), nil
}

// besideAt adds what the file beside the module says, which is its user's word and
// so has the last one. The digest is empty when there is no file. It is pinned with
// the module's: a looser setting weakens a rule as much as other code does.
func (s settings) besideAt(path string) (settings, string, error) {
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
	return s.with(file), digestOf(data), nil
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
	file.Config = compact(file.Config)
	return file, nil
}

// compact takes the space out of JSON that was checked.
func compact(data json.RawMessage) json.RawMessage {
	if data == nil {
		return nil
	}
	var out bytes.Buffer
	if err := json.Compact(&out, data); err != nil {
		return data
	}
	return out.Bytes()
}

var allKinds = []guardsdk.Kind{guardsdk.KindPin, guardsdk.KindValue, guardsdk.KindStep}

func knownKind(kind guardsdk.Kind) bool {
	return kind == guardsdk.KindPin || kind == guardsdk.KindValue || kind == guardsdk.KindStep
}
