package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/bir-run/bir/recorder/spool"
)

const (
	// maxRows and maxRowBytes bound what goes in one request.
	maxRows     = 256
	maxRowBytes = 256 << 10
)

// sender makes the writes of some records of one run, in one request.
type sender func(ctx context.Context, c *Client, rs ...record) error

// delivery makes writes and knows which runs have lost one.
type delivery struct {
	send     func(ctx context.Context, send sender, rs ...record) error
	lossy    map[string]bool
	log      *slog.Logger
	oneByOne bool // the service takes no lists
}

// deliver makes the first writes of a batch, as many as go in one request, and says
// how many those were. One that the service refuses is dropped: waiting would hold
// up all that come after it. After any other error the rest is still to be made.
func (d *delivery) deliver(ctx context.Context, batch []record) (made int, err error) {
	n := d.together(batch)
	if n == 0 {
		if err := d.deliverOne(ctx, batch[0]); err != nil {
			return 0, err
		}
		return 1, nil
	}
	if d.oneByOne {
		return d.singly(ctx, batch[:n], false)
	}
	err = d.send(ctx, send, batch[:n]...)
	if err == nil {
		return n, nil
	}
	if !refused(err) {
		return 0, err
	}
	return d.singly(ctx, batch[:n], isStatus(err, http.StatusBadRequest))
}

// together is how many steps at the beginning of the batch go in one request; 0
// where there is something else.
func (d *delivery) together(batch []record) int {
	n, size := 0, 0
	for n < len(batch) && n < maxRows && batch[n].Step != nil {
		size += len(batch[n].Step)
		if n > 0 && size > maxRowBytes {
			break
		}
		n++
	}
	return n
}

// singly makes the writes of a list that was refused, so that only what is wrong with
// it is lost. Where nothing is, the service does not know lists.
func (d *delivery) singly(ctx context.Context, steps []record, unknown bool) (made int, err error) {
	for i, r := range steps {
		err := d.send(ctx, sendAlone, r)
		if err != nil && !refused(err) {
			return i, err
		}
		if err != nil {
			unknown = false
			d.lose(ctx, r.Run, "the service refuses a recording", err)
		}
	}
	d.oneByOne = d.oneByOne || unknown
	return len(steps), nil
}

func (d *delivery) deliverOne(ctx context.Context, r record) error {
	if r.Finish != nil && d.lossy[r.Run] {
		end := *r.Finish
		end.Lossy = true
		r.Finish = &end
	}
	err := d.send(ctx, send, r)
	if err != nil && refused(err) {
		d.lose(ctx, r.Run, "the service refuses a recording", err)
		err = nil
	}
	if err == nil && r.Finish != nil {
		delete(d.lossy, r.Run) // there is nothing left to mark
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
	_, err := d.deliver(ctx, []record{r})
	return err
}

// Drain sends what recorders that are gone, or cut off, left in the folder. It
// does nothing while another process drains it.
func Drain(ctx context.Context, dir string, c *Client) error {
	d := delivery{
		send:  func(ctx context.Context, send sender, rs ...record) error { return send(ctx, c, rs...) },
		lossy: map[string]bool{},
		log:   slog.New(slog.DiscardHandler),
	}
	err := spool.New(spool.Config{Dir: dir}).Drain(ctx, d.fromSpool)
	if err != nil && !errors.Is(err, spool.ErrBusy) {
		return fmt.Errorf("send spooled recordings: %w", err)
	}
	return nil
}
