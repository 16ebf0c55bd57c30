package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/bir-run/bir/control/client/event"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/control/client/post"
)

const (
	// startWait is how long a new session may wait for its control server. It goes on
	// starting after that, and the session's later events find it.
	startWait = 1500 * time.Millisecond
	lookPause = 5 * time.Millisecond
)

var (
	errStopped   = errors.New("the user stopped the control server")
	errNoControl = errors.New("bir-control is not beside bir-hooks")
)

// askStarted starts the control server, or lets a newer one take over, and posts the
// event to whichever answers.
func (h *hook) askStarted(e event.Event, root string, payload []byte, until time.Time) (post.Answer, error) {
	started, end := error(errStopped), time.Now().Add(h.startWait)
	if !locate.Stopped(h.home, root) {
		started = h.start(root, end)
	}
	for {
		answer, err := h.try(e, root, payload, until)
		if err == nil {
			return answer, nil
		}
		if started != nil || !isAway(err) || time.Now().After(end) {
			return answer, errors.Join(started, err)
		}
		time.Sleep(lookPause)
	}
}

// try posts once to the server that the discovery file names now.
func (h *hook) try(e event.Event, root string, payload []byte, until time.Time) (post.Answer, error) {
	file, err := locate.Read(h.home, root)
	if err != nil {
		return post.Answer{}, err
	}
	return post.Post(file, e.Path, payload, until)
}

// isAway says whether a server that is starting may yet be found.
func isAway(err error) bool {
	return errors.Is(err, post.ErrAway) || errors.Is(err, os.ErrNotExist) ||
		errors.Is(err, locate.ErrBad) || errors.Is(err, locate.ErrRemote)
}

// start runs `bir-control --root ROOT --detach`, which returns once a control server
// answers. It waits for that until end: the process ends by itself, and the server is
// in a session of its own.
func (h *hook) start(root string, end time.Time) error {
	control, err := controlBeside(h.executable)
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	// None of our streams: the host waits until the last holder of them is gone.
	child, err := os.StartProcess(control, []string{control, "--root", root, "--detach"},
		&os.ProcAttr{Files: []*os.File{null, null, null}, Sys: detached()})
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { // ends with the child, or with this process
		_, _ = child.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Until(end)):
	}
	return nil
}

// controlBeside is bir-control in the folder that this program really lies in. It is
// not looked for on the PATH, which a project may have changed.
func controlBeside(executable func() (string, error)) (string, error) {
	own, err := executable()
	if err != nil {
		return "", err
	}
	name := "bir-control"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(real(own)), name)
	if _, err := os.Stat(path); err != nil {
		return "", errNoControl
	}
	return path, nil
}
