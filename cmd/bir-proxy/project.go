package main

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/bir-run/bir/cmd/internal/reach"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/control/client/locate"
	"github.com/bir-run/bir/recorder/process"
	"github.com/bir-run/bir/relay/tier"
)

const (
	// probeTimeout bounds the look whether a port still answers.
	probeTimeout = 200 * time.Millisecond
	// maxInstalledBytes bounds what is read of the record of installations.
	maxInstalledBytes = 16 << 20
)

// project is the project that the host runs us in, and its control server.
type project struct {
	home, root string
	session    locate.File // of an SDK session; without a token there is none
	executable string
	vars       []string
	log        *slog.Logger
}

func newProject(p *proxy) *project {
	j := &project{home: p.env.Home, root: locate.Root(p.dir), executable: p.executable, vars: p.env.Vars, log: p.log}
	if p.env.ControlURL == "" || p.env.ControlToken == "" {
		return j // one of them alone is no address
	}
	j.session = locate.File{URL: p.env.ControlURL, Token: p.env.ControlToken}
	if _, ok := j.session.Address(); !ok {
		j.log.Warn("BIR_CONTROL_URL is not used: want http://127.0.0.1:PORT")
		j.session = locate.File{}
	}
	return j
}

// find names the control servers that there may be.
func (j *project) find() []tier.Link {
	var links []tier.Link
	add := func(file locate.File) {
		if c, err := client.New(file); err == nil { // both were checked when they were read
			links = append(links, c)
		}
	}
	if j.session.Token != "" {
		add(j.session)
	}
	file, err := locate.Read(j.home, j.root)
	switch {
	case err == nil:
		add(file)
	case !errors.Is(err, os.ErrNotExist):
		j.log.Debug("read the discovery file", "error", err)
	}
	return links
}

// setUp says whether a control server is to be expected here.
func (j *project) setUp() bool {
	if j.session.Token != "" || j.installed() {
		return true
	}
	_, err := locate.Read(j.home, j.root)
	return err == nil
}

// installed says whether bir was installed into the project.
func (j *project) installed() bool {
	f, err := os.Open(filepath.Join(j.home, "installed.json"))
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxInstalledBytes))
	var record struct {
		Projects map[string]json.RawMessage `json:"projects"`
	}
	if err != nil || json.Unmarshal(text, &record) != nil {
		return false
	}
	key := locate.Key(j.root)
	for root := range record.Projects {
		if locate.Key(root) == key { // another spelling of the path may stand there
			return true
		}
	}
	return false
}

// revive starts the control server again if it died, and says whether it did so. One
// that left, or that the user stopped, stays away.
func (j *project) revive() bool {
	file, err := locate.Read(j.home, j.root) // one that leaves takes its file along
	if err != nil || locate.Stopped(j.home, j.root) || !j.installed() || process.Alive(file.PID) || !refuses(file) {
		return false
	}
	binary, err := reach.Binary(j.executable, "bir-control")
	if err != nil {
		j.log.Warn("start the control server again", "error", err)
		return true
	}
	cmd := exec.Command(binary, "--root", j.root, "--detach")
	cmd.Env, cmd.Dir, cmd.SysProcAttr = j.vars, j.root, process.Detached()
	if err := cmd.Start(); err != nil {
		j.log.Warn("start the control server again", "error", err)
		return true
	}
	j.log.Warn("the control server died and is started again", "root", j.root)
	// Ends when the control server serves, which is soon; or else with us.
	go func() { _ = cmd.Wait() }() // whether it serves is seen by asking it
	return true
}

// refuses says whether nobody listens any more where the control server did.
func refuses(file locate.File) bool {
	address, _ := file.Address()
	conn, err := net.DialTimeout("tcp", address, probeTimeout)
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
