package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bir-run/bir/recorder/spool"
)

// delivery makes writes and knows which runs have lost one.
type delivery struct {
	send  func(context.Context, record) error
	lossy map[string]bool
	log   *slog.Logger
}

// deliver makes one write. One that the service refuses is dropped: waiting would
// hold up all that come after it. Any other error is returned.
func (d *delivery) deliver(ctx context.Context, r record) error {
	if r.Finish != nil && d.lossy[r.Run] {
		end := *r.Finish
		end.Lossy = true
		r.Finish = &end
	}
	err := d.send(ctx, r)
	if err != nil && refused(err) {
		d.lose(ctx, r.Run, "the service refuses a recording", err)
		return nil
	}
	if err == nil && r.Finish != nil {
		delete(d.lossy, r.Run)
	}
	return err
}

// lose marks a run and says why.
func (d *delivery) lose(ctx context.Context, run, why string, err error) {
	d.lossy[run] = true
	attrs := []slog.Attr{slog.String("run", run)}
	if err != nil {
		attrs = append(attrs, slog.Any("error", err))
	}
	d.log.LogAttrs(ctx, slog.LevelWarn, why, attrs...)
}

// fromSpool delivers one spooled record.
func (d *delivery) fromSpool(ctx context.Context, run string, line []byte) error {
	var r record
	if err := json.Unmarshal(line, &r); line == nil || err != nil {
		d.lose(ctx, run, "a spooled recording is damaged", err)
		return nil
	}
	return d.deliver(ctx, r)
}

// Drain sends what recorders that are gone, or cut off, left in the folder. It
// does nothing while another process drains it.
func Drain(ctx context.Context, dir string, c *Client) error {
	d := delivery{
		send:  func(ctx context.Context, r record) error { return r.send(ctx, c) },
		lossy: map[string]bool{},
		log:   slog.New(slog.DiscardHandler),
	}
	err := spool.New(spool.Config{Dir: dir}).Drain(ctx, d.fromSpool)
	if err != nil && !errors.Is(err, spool.ErrBusy) {
		return fmt.Errorf("send spooled recordings: %w", err)
	}
	return nil
}
