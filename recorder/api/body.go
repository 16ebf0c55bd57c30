package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// MaxBodyBytes bounds a request. A step is at most a few truncated payloads of 64 KiB;
// this leaves room for prompts with pasted files, and for the whole answer of a tool
// that a hook brings, which hosts cut long before.
const MaxBodyBytes = 16 << 20

// Bound makes a request's body end at MaxBodyBytes.
func Bound(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, MaxBodyBytes)
}

// ReadJSON reads the whole body into v. Fields that v does not have are ignored: a
// newer client may know more. An empty body leaves v as it is.
func ReadJSON(r *http.Request, v any) error {
	body, err := ReadBody(r)
	if err != nil {
		return err
	}
	return Unmarshal(body, v)
}

// ReadBody reads the whole body.
func ReadBody(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength, MaxBodyBytes)) + bytes.MinRead)
	}
	_, err := b.ReadFrom(r.Body)
	var tooLarge *http.MaxBytesError
	if err != nil && !errors.As(err, &tooLarge) { // which is a problem of its own
		return nil, Refuse(BadRequest, "the body could not be read to its end")
	}
	return b.Bytes(), err
}

// Unmarshal reads JSON into v; its error is a Refusal that says where the fault is.
func Unmarshal(data []byte, v any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	err := json.Unmarshal(data, v)
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return Refuse(MalformedJSON, fmt.Sprintf("%s: %v", position(data, syntax.Offset), err))
	case errors.As(err, &wrongType):
		what := "the body"
		if wrongType.Field != "" {
			what = strconv.Quote(wrongType.Field)
		}
		return Refuse(MalformedJSON, fmt.Sprintf("%s: %s: got %s, want %s",
			position(data, wrongType.Offset), what, wrongType.Value, jsonName(wrongType)))
	}
	return Refuse(MalformedJSON, err.Error())
}

func position(data []byte, offset int64) string {
	before := data[:min(int(offset), len(data))]
	line := 1 + bytes.Count(before, []byte("\n"))
	return fmt.Sprintf("line %d, column %d", line, len(before)-bytes.LastIndexByte(before, '\n')-1)
}

// jsonName is a Go type in the words of JSON.
func jsonName(err *json.UnmarshalTypeError) string {
	kind := err.Type.Kind().String()
	switch {
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "float"):
		return "number"
	case kind == "struct", kind == "map":
		return "object"
	case kind == "slice":
		return "array"
	}
	return kind
}

// WriteJSON answers with v.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	return write(w, "application/json", status, v)
}

func write(w http.ResponseWriter, contentType string, status int, v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	WriteText(w, contentType, status, bytes.TrimSuffix(text.Bytes(), []byte("\n")))
	return nil
}

// WriteText answers with a body of known length, which a client that speaks HTTP by
// hand need not put together from chunks.
func WriteText(w http.ResponseWriter, contentType string, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(text)))
	h.Set("Cache-Control", "no-store") // what is recorded is private
	w.WriteHeader(status)
	_, _ = w.Write(text) // a caller that went away is told nothing
}
