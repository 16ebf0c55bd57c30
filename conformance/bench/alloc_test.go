package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/recorder/client"
	"github.com/bir-run/bir/relay"
)

// BenchmarkAllocated reports the bytes that the relay allocates for a call, with
// recording and without. It runs in this process, between a host and a server that
// allocate nothing of their own.
func BenchmarkAllocated(b *testing.B) {
	for _, size := range sizes {
		for name, record := range map[string]bool{"relay": false, "proxy": true} {
			b.Run(fmt.Sprintf("%s/%s", size.name, name), func(b *testing.B) {
				c := converse(b, record)
				c.call(size.bytes)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				calls := 0
				for b.Loop() {
					c.call(size.bytes)
					calls++
				}
				c.end()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/float64(calls), "bytes/call")
				b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(calls), "allocations/call")
			})
		}
	}
}

// conversation is a host that talks through a relay of this process.
type conversation struct {
	b      *testing.B
	in     *io.PipeWriter
	out    *io.PipeReader
	id     int
	ask    []byte
	buffer []byte
	end    func()
}

func converse(b *testing.B, record bool) *conversation {
	hostIn, in := io.Pipe()
	out, hostOut := io.Pipe()
	server := newEcho()
	cfg := relay.Config{HostIn: hostIn, HostOut: hostOut, Upstream: server, Name: "bench"}
	var stream *client.StreamRecorder
	if record {
		stream = client.NewRecorder(client.RecorderConfig{Connect: func(context.Context) (*client.Client, error) {
			return client.New(client.Config{BaseURL: "http://service", HTTP: &http.Client{Transport: taking{}}}), nil
		}})
		cfg.Record = relay.Record{Recorder: stream, Tier: recorder.TierStandalone}
	}
	ended := make(chan error, 1)
	// Ends with the host's input.
	go func() { ended <- relay.New(cfg).Run(context.Background()) }()
	c := &conversation{b: b, in: in, out: out, buffer: make([]byte, 64<<10)}
	c.end = func() {
		in.Close()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
		if stream != nil {
			if err := stream.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}
	c.read() // that the server is there
	return c
}

func (c *conversation) call(size int) {
	c.id++
	c.ask = appendAsk(c.ask[:0], c.id, size)
	if _, err := c.in.Write(c.ask); err != nil {
		c.b.Fatal(err)
	}
	c.read()
}

func (c *conversation) read() {
	for {
		n, err := c.out.Read(c.buffer)
		if err != nil {
			c.b.Fatal(err)
		}
		if c.buffer[n-1] == '\n' {
			return
		}
	}
}

// echo is the server as an upstream of this process.
type echo struct {
	asked   *io.PipeReader
	in, out *io.PipeWriter
	answers *io.PipeReader
}

func newEcho() *echo {
	e := &echo{}
	e.asked, e.in = io.Pipe()
	e.answers, e.out = io.Pipe()
	// Ends with Stop.
	go func() {
		serve(e.asked, e.out)
		e.out.Close()
	}()
	return e
}

func (e *echo) Read(p []byte) (int, error)  { return e.answers.Read(p) }
func (e *echo) Write(p []byte) (int, error) { return e.in.Write(p) }
func (e *echo) Stop()                       { e.in.Close() }

// taking is a service that takes everything.
type taking struct{}

func (taking) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}, Request: r}, nil
}
