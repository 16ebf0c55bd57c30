package main

import (
	"context"
	"time"

	"github.com/bir-run/bir/cmd/internal/reach"
	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/recorder/launch"
)

// closeTimeout bounds the end of the recording. What the service has not taken by
// then waits in the spool: the host is not kept.
const closeTimeout = time.Second

// maxQueueBytes bounds what waits for the service: a host starts many proxies.
const maxQueueBytes = 8 << 20

// newRecorder opens the recorder; the function closes it, within a bound. The
// service is found, or started, only when there is something to report.
func newRecorder(p *proxy) (recorder.Recorder, func()) {
	stream := client.NewRecorder(client.RecorderConfig{
		Connect: func(ctx context.Context) (*client.Client, error) {
			return reach.Service(ctx, p.env, p.executable, p.log)
		},
		QueueBytes: maxQueueBytes,
		SpoolDir:   launch.SpoolDir(p.env.Home, p.env.AuthURL),
		Logger:     p.log,
	})
	return stream, func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := stream.Close(ctx); err != nil {
			p.log.Warn("some of the recording is lost", "error", err)
		}
	}
}
