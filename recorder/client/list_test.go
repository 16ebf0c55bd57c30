package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bir-run/bir/recorder"
)

func TestListIsAnArrayOfItsSteps(t *testing.T) {
	rs := []record{{Step: json.RawMessage(`{"a":1}`)}, {Step: json.RawMessage(`{}`)}, {Step: json.RawMessage(`{"b":[2]}`)}}
	const want = `[{"a":1},{},{"b":[2]}]`
	for n := 1; n <= len(rs); n++ {
		got, err := io.ReadAll(newList(rs[:n]))
		if err != nil || !json.Valid(got) || int64(len(got)) != array(rs[:n]).Size() {
			t.Errorf("%d steps: %s, %v", n, got, err)
		}
	}
	if err := iotest.TestReader(newList(rs), []byte(want)); err != nil {
		t.Error(err)
	}
}

// late answers first and reads afterwards, as a transport may.
type late struct {
	bodies chan io.ReadCloser
}

func (l *late) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/steps") {
		l.bodies <- r.Body
	} else {
		r.Body.Close()
	}
	return &http.Response{StatusCode: http.StatusCreated, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}, Request: r}, nil
}

func TestRowsStayWhileATransportReadsThem(t *testing.T) {
	const requests = 8
	transport := &late{bodies: make(chan io.ReadCloser, requests)}
	s := open(t, RecorderConfig{Connect: func(context.Context) (*Client, error) {
		return New(Config{BaseURL: "http://service", HTTP: &http.Client{Transport: transport}}), nil
	}})
	s.StartRun(recorder.Run{ID: "run_1"})
	for n := range requests {
		recordCalls(s, n, n+1)
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for n := range requests {
		body := <-transport.bodies
		text, err := io.ReadAll(body)
		var steps []struct {
			ToolInput *struct{ N int }
		}
		if err != nil || json.Unmarshal(text, &steps) != nil || len(steps) != 2 || steps[0].ToolInput.N != n {
			t.Errorf("request %d became %s, %v", n, text, err)
		}
		body.Close()
		body.Close() // once is enough, and twice no harm
	}
	recordCalls(s, requests, requests+1)
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	(<-transport.bodies).Close()
}

func TestBufferIsFreeOnceEveryRequestIsClosed(t *testing.T) {
	b := &buffer{}
	rs := []record{{Step: json.RawMessage(`{}`), in: b}}
	first, again := newList(rs), newList(rs)
	first.Close()
	first.Close()
	if b.free() {
		t.Error("it is free while a retry reads")
	}
	if again.Close(); !b.free() {
		t.Error("it is not free")
	}
	if b.bytes = make([]byte, maxStepBytes+1); b.free() {
		t.Error("a large buffer is kept")
	}
}
