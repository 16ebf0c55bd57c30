package client

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/bir-run/bir/recorder/clean"
)

// largePerSecond bounds the payloads over the limit that are read, to leave 64 KiB of
// them. An agent's tools give a megabyte now and then; a stream of them would take a
// core away from the conversation that it is a copy of. From then on the record says
// only that there was something, how large it was, and that it is not whole.
const (
	largePerSecond = 32 << 20
	largeAtOnce    = 8 << 20
)

// allowance is how much may still be read; what is not used is saved up to
// largeAtOnce.
type allowance struct {
	used int
	at   time.Time
}

// take says whether n bytes may be read now.
func (a *allowance) take(n int, now time.Time) bool {
	free := now.Sub(a.at).Seconds() * largePerSecond
	a.used = max(0, a.used-int(min(free, largePerSecond)))
	a.at = now
	if a.used >= largeAtOnce {
		return false
	}
	a.used += n
	return true
}

// payload makes a payload fit to be sent.
func (c *chain) payload(raw json.RawMessage) []byte {
	if len(raw) > c.limit && !c.large.take(len(raw), time.Now()) {
		return fmt.Appendf(nil, `{"truncated":true,"originalBytes":%d}`, len(raw))
	}
	return clean.JSON(raw, c.limit)
}
