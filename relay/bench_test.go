package relay

import (
	"strings"
	"testing"

	"github.com/bir-run/bir/relay/jsonrpc"
)

// BenchmarkNote is what a call costs beside its bytes, with nothing recorded.
func BenchmarkNote(b *testing.B) {
	ask := `{"jsonrpc":"2.0","id":1001,"method":"tools/call","params":{"name":"echo","arguments":{"size":1024},"_meta":{"x/y":"00000000"}}}` + "\n"
	reply := `{"jsonrpc":"2.0","id":1001,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 1000) + `"}]}}` + "\n"
	r := New(Config{})
	host := jsonrpc.Reader{Source: &repeat{text: ask}, When: jsonrpc.Late}
	up := jsonrpc.Reader{Source: &repeat{text: reply}, Wanted: r.table.records}
	b.ReportAllocs()
	for b.Loop() {
		m, _ := host.Next()
		r.noteHost(m)
		m, _ = up.Next()
		r.noteUpstream(m)
	}
}

type repeat struct{ text string }

func (r *repeat) Read(b []byte) (int, error) { return copy(b, r.text), nil }
