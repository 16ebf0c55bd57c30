package client

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v4"
)

// connectTimeout bounds finding the service, which may have to be started first.
const connectTimeout = 20 * time.Second

// jitter spreads the retries of many proxies that lost the service together.
const jitter = 0.2

// link is the connection to the service, with a breaker: after a failure nobody
// asks again for a while, 5 s at first and 60 s at last.
type link struct {
	connect func(context.Context) (*Client, error)
	timeout time.Duration
	log     *slog.Logger

	client *Client // nil: connect first
	pauses *backoff.ExponentialBackOff
	until  time.Time // no request before it; zero while all is well
}

func newLink(cfg RecorderConfig) *link {
	return &link{
		connect: cfg.Connect,
		timeout: cfg.SendTimeout,
		log:     cfg.Logger,
		pauses: backoff.NewExponentialBackOff(
			backoff.WithInitialInterval(cfg.RetryMin),
			backoff.WithMaxInterval(cfg.RetryMax),
			backoff.WithMultiplier(2),
			backoff.WithRandomizationFactor(jitter),
			backoff.WithMaxElapsedTime(0), // never give up
		),
	}
}

// ready says whether a request may be made.
func (l *link) ready() bool { return !time.Now().Before(l.until) }

// send makes writes, in one request. A service that has moved or changed its token is looked
// for once. An error that stays opens the breaker, unless the write itself is at
// fault.
func (l *link) send(ctx context.Context, send sender, rs ...record) error {
	known := l.client != nil
	err := l.once(ctx, send, rs)
	if isStatus(err, http.StatusUnauthorized) || known && errors.Is(err, ErrUnreachable) {
		l.client = nil
		err = l.once(ctx, send, rs)
	}
	switch {
	case err == nil || refused(err):
		l.restore(ctx)
	case ctx.Err() == nil: // our own end says nothing about the service
		l.trip(ctx, err)
	}
	return err
}

func (l *link) once(ctx context.Context, send sender, rs []record) error {
	if l.client == nil {
		connecting, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		c, err := l.connect(connecting)
		if err != nil {
			return err
		}
		l.client = c
	}
	sending, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return send(sending, l.client, rs...)
}

func (l *link) trip(ctx context.Context, err error) {
	if l.until.IsZero() {
		l.log.LogAttrs(ctx, slog.LevelWarn, "the service does not take recordings; they wait", slog.Any("error", err))
	}
	l.client = nil
	l.until = time.Now().Add(l.pauses.NextBackOff())
}

func (l *link) restore(ctx context.Context) {
	if l.until.IsZero() {
		return
	}
	l.log.LogAttrs(ctx, slog.LevelInfo, "the service takes recordings again")
	l.until = time.Time{}
	l.pauses.Reset()
}

func isStatus(err error, status int) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == status
}

// refused says whether sending the same again would fail again: the service does
// not want it, or it cannot be written down.
func refused(err error) bool {
	var unencodable *json.MarshalerError
	if errors.As(err, &unencodable) {
		return true
	}
	var p *Problem
	if !errors.As(err, &p) {
		return false
	}
	switch p.Status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return p.Status >= 400 && p.Status < 500
}
