package main

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/bir-run/bir/recorder"
	"github.com/bir-run/bir/relay/front"
	"github.com/bir-run/bir/relay/web"
)

// web says how the remote server is reached.
func (p *proxy) web() web.Config {
	header := map[string]string{}
	maps.Copy(header, p.env.UpstreamHeaders)
	for name, value := range p.config.Header {
		maps.DeleteFunc(header, func(other, _ string) bool { return strings.EqualFold(other, name) })
		header[name] = value
	}
	return web.Config{
		URL: p.config.URL, Transport: web.Transport(p.config.Transport), Header: header,
		ConnectTimeout: p.env.ConnectTimeout, MaxMessageBytes: p.env.MaxMessageBytes, Log: p.log,
	}
}

// serve stands in front of a remote server until a signal comes.
func (p *proxy) serve(ctx context.Context) int {
	record := p.record()
	defer record.close()
	f, err := front.New(front.Config{Server: p.web(), Name: p.config.ServerName, Record: record.Record, Log: p.log})
	if err != nil {
		fmt.Fprintf(p.err, "bir-proxy: %s\n", err)
		return exitUsage
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.config.Port)))
	if err != nil {
		fmt.Fprintf(p.err, "bir-proxy: %s\n", err)
		return exitFailed
	}
	fmt.Fprintf(p.out, "http://%s%s\n", listener.Addr(), pathOf(p.config.URL))
	record.start(ctx, nil) // a call of ours would need a session of its own with the server
	ctx, stop := p.signalled(ctx)
	defer stop()
	if err := f.Serve(ctx, listener); err != nil {
		p.log.Error("serve", "error", err)
		return exitFailed
	}
	return 0
}

// remoteServer is what the record says of a remote server. A URL may hold a password,
// or a token in its query.
func (p *proxy) remoteServer() recorder.Server {
	s := recorder.Server{Transport: p.config.Transport}
	if u, err := url.Parse(p.config.URL); err == nil {
		s.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	}
	return s
}

func pathOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.EscapedPath()
}
