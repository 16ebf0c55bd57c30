package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bir-run/bir/recorder"
)

// taking is a service in this process that takes everything.
type taking struct{}

func (taking) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}, Request: r}, nil
}

// BenchmarkRecord is what recording a call takes in the process that reports it, up
// to the connection: redacting, cutting, encoding. The result is words, quotes and
// line ends, as tools answer with.
func BenchmarkRecord(b *testing.B) {
	const line = `path/to/file.go: \"name\" 0x7f3a if err != nil { return café }\n`
	for _, size := range []int{100, 10 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := NewRecorder(RecorderConfig{Connect: func(context.Context) (*Client, error) {
				return New(Config{BaseURL: "http://service", HTTP: &http.Client{Transport: taking{}}}), nil
			}})
			s.StartRun(recorder.Run{ID: "run_1"})
			result := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat(line, size/len(line)+1)[:size/len(line)*len(line)] + `"}],"isError":false}`)
			b.SetBytes(int64(len(result)))
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				s.chain.large = allowance{} // reading them is what is measured
				s.RecordCall("run_1", recorder.Call{ID: "toolu_1", ServerName: "fleet", ToolName: "echo", Args: []byte(`{"size":100}`), Result: result})
				if n%32 == 31 { // what comes in 5 ms or so
					if err := s.Flush(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			}
			if err := s.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
