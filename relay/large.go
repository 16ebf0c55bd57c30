package relay

import (
	"bytes"
	"time"

	"github.com/bir-run/bir/relay/jsonrpc"
)

// An agent's tools answer with a megabyte now and then. A stream of such answers
// would cost more to copy and read than to relay, so that beyond a rate the record
// keeps only how large they were, which it would cut to 64 KiB anyway. How a call
// ended is never guessed: an answer that may be an error is read all the same.
const (
	largeBytes     = 256 << 10
	largePerSecond = 32 << 20
	largeAtOnce    = 8 << 20
)

// allowance is how many large bytes may still be read; what is not used is saved up
// to largeAtOnce. It belongs to the goroutine that reads the upstream.
type allowance struct {
	used int
	at   time.Time
}

// take says whether n bytes may be read now.
func (a *allowance) take(n int, now time.Time) bool {
	free := min(now.Sub(a.at).Seconds()*largePerSecond, largeAtOnce)
	a.used = max(0, a.used-max(0, int(free)))
	a.at = now
	if a.used >= largeAtOnce {
		return false
	}
	a.used += n
	return true
}

// bySize says whether only the size of an answer is kept.
func (a *allowance) bySize(m jsonrpc.Message, now time.Time) bool {
	return len(m.Raw) > largeBytes && !a.take(len(m.Raw), now) && m.HasResult() && endsWell(m.Raw)
}

// endsWell holds where a result can be neither an error nor a question (R4), at
// whatever depth the members that say so would stand. In a string they would have
// backslashes before their quotes.
func endsWell(raw []byte) bool {
	if _, asks := after(raw, `"resultType"`, len(`"result`)); asks {
		return false
	}
	for {
		rest, found := after(raw, `"isError"`, len(`"is`))
		if !found {
			return true
		}
		raw = bytes.TrimLeft(rest, " \t\r\n:")
		if !bytes.HasPrefix(raw, []byte("false")) {
			return false
		}
	}
}

// after returns what follows the first of a token. It looks for the token's rarest
// byte: its quotes are everywhere.
func after(raw []byte, token string, rarest int) (rest []byte, found bool) {
	for done := 0; ; {
		i := bytes.IndexByte(raw[done:], token[rarest])
		if i < 0 {
			return nil, false
		}
		start := done + i - rarest
		if start >= 0 && bytes.HasPrefix(raw[start:], []byte(token)) {
			return raw[start+len(token):], true
		}
		done += i + 1
	}
}
