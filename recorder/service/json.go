package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// readJSON reads the whole body into v. Fields that v does not have are ignored:
// a newer client may know more. An empty body leaves v as it is.
func readJSON(r *http.Request, v any) error {
	data, err := readBody(r)
	if err != nil {
		return err
	}
	return unmarshal(data, v)
}

func readBody(r *http.Request) ([]byte, error) {
	var b bytes.Buffer
	if r.ContentLength > 0 {
		b.Grow(int(min(r.ContentLength, maxBodyBytes)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(r.Body); err != nil {
		return nil, readError(err)
	}
	return bytes.TrimLeft(b.Bytes(), " \t\r\n"), nil
}

// readError tells a body that is too large, which is a problem of its own, from
// one that ended early because the caller went away.
func readError(err error) error {
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return err
	}
	return refuse(CodeBadRequest, "the body could not be read to its end")
}

func unmarshal(data []byte, v any) error {
	if len(data) == 0 {
		return nil
	}
	err := json.Unmarshal(data, v)
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return refuse(CodeMalformedJSON, fmt.Sprintf("%s: %v", position(data, syntax.Offset), err))
	case errors.As(err, &wrongType):
		what := "the body"
		if wrongType.Field != "" {
			what = strconv.Quote(wrongType.Field)
		}
		return refuse(CodeMalformedJSON, fmt.Sprintf("%s: %s: got %s, want %s",
			position(data, wrongType.Offset), what, wrongType.Value, jsonName(wrongType)))
	}
	return refuse(CodeMalformedJSON, err.Error())
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

func writeJSON(w http.ResponseWriter, status int, v any) error {
	writeJSONAs(w, "application/json", status, v)
	return nil
}

func writeJSONAs(w http.ResponseWriter, contentType string, status int, v any) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "no-store") // recordings are private
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// The status is sent: a caller that went away or a value that does not encode
	// shows as a cut answer, and there is nobody left to tell.
	_ = enc.Encode(v)
}
