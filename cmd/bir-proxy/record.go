package main

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/bir-run/bir/cmd/internal/reach"
	"github.com/bir-run/bir/control/client"
	"github.com/bir-run/bir/recorder"
	recorderclient "github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/launch"
	"github.com/bir-run/bir/relay"
	"github.com/bir-run/bir/relay/tier"
)

// closeTimeout bounds the end of the recording. What the service has not taken by
// then waits in the spool: the host is not kept.
const closeTimeout = time.Second

// maxQueueBytes bounds what waits for the service: a host starts many proxies.
const maxQueueBytes = 4 << 20

// recording is where the calls go. Without a tier nothing is recorded.
type recording struct {
	relay.Record
	tier *tier.Tier
	own  *recorderclient.StreamRecorder // of the proxy's own run

	cancel  context.CancelFunc
	running sync.WaitGroup
	warn    func(msg string, args ...any)
}

// record says what is recorded, and where. The service is found, or started, only when
// there is something to report to it.
func (p *proxy) record() *recording {
	if p.config.NoRecord || p.env.Off {
		return &recording{}
	}
	if p.env.Home == "" { // not into whatever folder the host runs us in
		p.log.Warn("no home folder is known, so nothing is recorded; set BIR_HOME")
		return &recording{}
	}
	r := &recording{warn: p.log.Warn}
	r.own = recorderclient.NewRecorder(recorderclient.RecorderConfig{
		Connect: func(ctx context.Context) (*recorderclient.Client, error) {
			return reach.Service(ctx, p.env, p.executable, p.log)
		},
		QueueBytes: maxQueueBytes,
		SpoolDir:   launch.SpoolDir(p.env.Home, p.env.AuthURL),
		Logger:     p.log,
	})
	paused := newOffSwitch(p.env.Home, p.dir).thrown
	r.tier = p.newTier(r.own, paused)
	r.Record = relay.Record{
		Recorder: r.tier, Tier: recorder.TierStandalone, CWD: p.dir, Server: p.upstreamServer(),
		Paused: paused, Host: r.tier.Host, Lost: r.tier.Lost,
	}
	return r
}

func (p *proxy) newTier(own tier.Recorder, paused func() bool) *tier.Tier {
	project := newProject(p)
	return tier.New(tier.Config{
		Self: client.Register{
			ServerName: p.config.ServerName, PID: os.Getpid(), CWD: p.dir, SessionID: p.env.SessionID,
			Version: version, Server: p.upstreamServer(),
		},
		Recorder: own,
		Find:     project.find, Revive: project.revive, SetUp: project.setUp, Paused: paused,
		Standalone: p.config.Standalone,
		NoOwnRun:   p.recordsNothingAlone(project),
		Log:        p.log,
	})
}

// recordsNothingAlone holds for an entry that the host has for every project, in one
// whose tool calls nobody asked to record.
func (p *proxy) recordsNothingAlone(j *project) bool {
	return p.config.UserScope && !p.config.Standalone && !j.installed()
}

// upstreamServer is what the record says of the server.
func (p *proxy) upstreamServer() recorder.Server {
	if p.config.URL != "" {
		return p.remoteServer()
	}
	return recorder.Server{Transport: "stdio", Command: p.config.Command, CWD: p.dir}
}

// start looks for a control server. call makes the calls that it wants made, if any.
func (r *recording) start(ctx context.Context, call tier.Call) {
	if r.tier == nil {
		return
	}
	ctx, r.cancel = context.WithCancel(ctx)
	// Ends with close.
	r.running.Go(func() { r.tier.Run(ctx, call) })
}

// close waits, within a bound, until the recording is safe.
func (r *recording) close() {
	if r.tier == nil {
		return
	}
	if r.cancel != nil {
		r.cancel()
	}
	r.running.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := r.own.Close(ctx); err != nil {
		r.warn("some of the recording is lost", "error", err)
	}
}
