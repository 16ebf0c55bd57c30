package relay

import (
	"strings"
	"testing"
	"time"

	"github.com/bir-run/bir/relay/jsonrpc"
)

func TestAStreamOfLargeAnswersIsRecordedBySize(t *testing.T) {
	answer := func(more string) jsonrpc.Message {
		return jsonrpc.Classify([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\"isError\":true ` + strings.Repeat("x", 1<<20) + `"}]` + more + `}}`))
	}
	plain, now := answer(`,"isError" : false`), time.Now()
	var a allowance
	read := 0
	for !a.bySize(plain, now) {
		if read++; read > 100 {
			t.Fatal("every answer is read")
		}
	}
	if read != largeAtOnce>>20 {
		t.Errorf("%d answers of a megabyte are read at once", read)
	}
	for name, m := range map[string]jsonrpc.Message{
		"an error":          answer(`,"isError": true`),
		"a question":        answer(`,"resultType":"input_required","requestState":"s"`),
		"something unclear": answer(`,"isError":null`),
		"a small one":       jsonrpc.Classify([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)),
		"a protocol error":  jsonrpc.Classify([]byte(`{"jsonrpc":"2.0","id":1,"error":{"message":"` + strings.Repeat("x", 1<<20) + `"}}`)),
	} {
		if a.bySize(m, now) {
			t.Errorf("%s is recorded by its size", name)
		}
	}
	if a.bySize(plain, now.Add(time.Second)) {
		t.Error("a second later the next answer is not read")
	}
}
