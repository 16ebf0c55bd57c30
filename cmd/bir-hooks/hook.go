package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/client/post"
	"github.com/bir-run/bir/control/client/scan"
)

const (
	// maxPayloadBytes is what the control server takes.
	maxPayloadBytes = 16 << 20
	// spareTime is how long before the host would give up a hook ends by itself.
	spareTime = 500 * time.Millisecond
	// unknownPatience is for an event that is not named yet.
	unknownPatience = 4 * time.Second
	sessionStart    = "SessionStart"
)

// hook is one event of the host on its way to the control server.
type hook struct {
	name    string // of the event; empty: the payload has it
	home    string // BIR_HOME
	project string // CLAUDE_PROJECT_DIR; empty: the payload's folder counts
	off     bool   // BIR_OFF
	version string // ours
	began   time.Time

	executable func() (string, error) // our own path
	startWait  time.Duration          // for a control server that starts
}

var (
	errUnknown  = errors.New("no such event")
	errNoObject = errors.New("the payload is not a JSON object")
	errTooLarge = errors.New("the payload is too large")
	errNowhere  = errors.New("no folder of the session, or no home")
	errRefused  = errors.New("the control server refused")
	errGarbage  = errors.New("the control server's answer is not a JSON object")
)

// patience is how long this process may live.
func (h *hook) patience() time.Duration {
	if e, ok := event.Named(h.name); ok {
		return e.Timeout - spareTime
	}
	return unknownPatience
}

// run reads the payload and returns what the host should be told: nothing, mostly.
func (h *hook) run(in io.Reader) ([]byte, error) {
	payload, err := read(in) // first of all, since the host is writing it
	if err != nil || h.off {
		return nil, err
	}
	if h.name == "" || h.project == "" {
		h.fill(payload)
	}
	e, known := event.Named(h.name)
	if !known {
		return nil, errUnknown
	}
	if h.home == "" || !filepath.IsAbs(h.project) {
		return nil, errNowhere
	}
	if turnedOff(h.home, h.project) {
		return nil, nil
	}
	answer, err := h.ask(e, payload)
	if err != nil {
		return nil, err
	}
	return worthSaying(answer)
}

// read reads the payload up to its end. One that is too large is read all the same:
// a host whose pipe breaks may take it for a failure.
func read(in io.Reader) ([]byte, error) {
	payload := bytes.NewBuffer(make([]byte, 0, 16<<10))
	if _, err := payload.ReadFrom(io.LimitReader(in, maxPayloadBytes+1)); err != nil {
		return nil, err
	}
	if payload.Len() > maxPayloadBytes {
		_, _ = io.Copy(io.Discard, in)
		return nil, errTooLarge
	}
	if !bytes.HasPrefix(bytes.TrimLeft(payload.Bytes(), " \t\r\n"), []byte("{")) {
		return nil, errNoObject // the control server judges the rest
	}
	return payload.Bytes(), nil
}

// fill takes from the payload what neither the command line nor the environment said.
func (h *hook) fill(payload []byte) {
	var name, folder string
	scan.Members(payload, func(key string, value []byte) bool {
		switch key {
		case "hook_event_name":
			name, _ = scan.String(value)
		case "cwd":
			folder, _ = scan.String(value)
		}
		return name == "" || folder == ""
	})
	if h.name == "" {
		h.name = name
	}
	if h.project == "" {
		h.project = folder
	}
}

// ask posts the event to the control server of the session's project.
func (h *hook) ask(e event.Event, payload []byte) (post.Answer, error) {
	root := locate.Root(h.project)
	// Between what the server may take and what the host waits.
	until := h.began.Add((e.Answer + e.Timeout) / 2)
	file, err := locate.Read(h.home, root)
	if e.Name == sessionStart && (err != nil || file.Version != h.version) {
		return h.askStarted(e, root, payload, until)
	}
	if err != nil {
		return post.Answer{}, err
	}
	answer, err := post.Post(file, e.Path, payload, until)
	if !errors.Is(err, post.ErrAway) {
		return answer, err
	}
	if e.Name == sessionStart {
		return h.askStarted(e, root, payload, until)
	}
	// It may have handed over to a newer one just now.
	if next, gone := locate.Read(h.home, root); gone == nil && next != file {
		return post.Post(next, e.Path, payload, until)
	}
	return answer, err
}

// worthSaying is the body of an answer that tells the host something. A host takes
// what is not JSON for text to show or to hand to the model, so nothing else gets out.
func worthSaying(answer post.Answer) ([]byte, error) {
	if answer.Status != 200 {
		return nil, errRefused
	}
	says := false
	if !scan.Members(answer.Body, func(string, []byte) bool { says = true; return true }) {
		return nil, errGarbage
	}
	if !says {
		return nil, nil
	}
	return answer.Body, nil
}
