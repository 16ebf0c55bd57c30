package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// ordinaryJSON is a payload without a secret, as a tool returns it: a listing of
// records and a piece of source code.
func ordinaryJSON(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"content":[{"type":"text","text":`)
	code := strings.Repeat("func open(path string) (*File, error) {\n\tf, err := os.Open(path)\n\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"open: %w\", err)\n\t}\n\treturn f, nil\n}\n", size/300)
	quoted, _ := json.Marshal(code)
	b.Write(quoted)
	b.WriteString(`}],"structuredContent":{"items":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"name":"vehicle-%d","author":"ada","max_tokens":512,"lastSeen":"2026-03-04T05:06:07Z","url":"https://example.com/v/%d?page=2","position":{"lat":48.1,"lon":11.5}}`, i, i, i)
	}
	b.WriteString(`]}}`)
	return b.Bytes()
}

func BenchmarkOrdinaryJSON(b *testing.B) {
	raw := ordinaryJSON(64 << 10)
	if !json.Valid(raw) {
		b.Fatal("the payload is no JSON")
	}
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if out := JSON(raw); len(out) != len(raw) {
			b.Fatal("something was redacted")
		}
	}
}

func BenchmarkOrdinaryText(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog; see section 4.2 of the manual.\n", 860)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if Text(text) != text {
			b.Fatal("something was redacted")
		}
	}
}

func BenchmarkManySecrets(b *testing.B) {
	raw := []byte(`[` + strings.Repeat(`{"password":"hunter2","note":"Bearer abc123def456"},`, 1200) + `0]`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		JSON(raw)
	}
}
