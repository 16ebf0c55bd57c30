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
	largeAtOnce    = maxReportBytes
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
	counts := count(raw)
	if _, asks := after(raw, `"resultType"`, &counts); asks {
		return false
	}
	for {
		rest, found := after(raw, `"isError"`, &counts)
		if !found {
			return true
		}
		raw = bytes.TrimLeft(rest, " \t\r\n:")
		if !bytes.HasPrefix(raw, []byte("false")) {
			return false
		}
	}
}

// sampleBytes are enough to tell which bytes are rare in a text.
const sampleBytes = 1 << 10

// count counts the bytes of a sample from the middle of a text.
func count(raw []byte) (counts [256]int) {
	from := max(0, len(raw)-sampleBytes) / 2
	for _, b := range raw[from:min(len(raw), from+sampleBytes)] {
		counts[b]++
	}
	return counts
}

// after returns what follows the first of a token. It looks for that byte of the token
// which is the rarest here: quotes are everywhere in JSON in a string, and nowhere in
// Base64.
func after(raw []byte, token string, counts *[256]int) (rest []byte, found bool) {
	rarest := 0
	for i := range len(token) {
		if counts[token[i]] < counts[token[rarest]] {
			rarest = i
		}
	}
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
