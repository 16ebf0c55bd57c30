package truncate

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/recorder/jsontext"
)

// minBinaryBytes is the length from which the text of a binary block is replaced;
// a shorter one costs no more than its hash.
const minBinaryBytes = 128

// binaries replaces the data of MCP's image and audio blocks and the blobs of its
// resources. A replaced block keeps its other members, type and mimeType among
// them, and says what it held:
//
//	"data": {"truncated": true, "originalBytes": 48213, "sha256": "9f86..."}
//
// The length and the hash are those of the decoded bytes.
func binaries(raw []byte) []byte {
	var f finder
	f.visit(gjson.ParseBytes(raw), 0)
	if len(f.spans) == 0 {
		return raw
	}
	slices.SortFunc(f.spans, func(a, b span) int { return a.start - b.start })
	var out []byte
	done := 0
	for _, s := range f.spans {
		out = append(out, raw[done:s.start]...)
		out = append(out, s.with...)
		done = s.end
	}
	return append(out, raw[done:]...)
}

// mayHoldBinary spares ordinary payloads the visit. What makes a block a binary one
// never stands in a long string.
func mayHoldBinary(raw []byte, long []jsontext.Span) bool {
	done := 0
	for _, s := range long {
		if namesBinary(raw[done:s.Start]) {
			return true
		}
		done = s.End
	}
	return namesBinary(raw[done:])
}

func namesBinary(part []byte) bool {
	for _, word := range []string{`"image"`, `"audio"`, `"blob"`} {
		if bytes.Contains(part, []byte(word)) {
			return true
		}
	}
	return false
}

type span struct {
	start, end int
	with       []byte
}

type finder struct{ spans []span }

// visit looks for blocks where MCP has them: in content lists, resource contents
// and whatever holds these.
func (f *finder) visit(value gjson.Result, depth int) {
	if depth > maxDepth || !value.IsObject() && !value.IsArray() || len(value.Raw) < minBinaryBytes {
		return
	}
	var kind, data, uri, blob gjson.Result
	object := value.IsObject()
	value.ForEach(func(key, member gjson.Result) bool {
		switch {
		case object && key.Str == "type":
			kind = member
		case object && key.Str == "data":
			data = member
		case object && key.Str == "uri":
			uri = member
		case object && key.Str == "blob":
			blob = member
		}
		if member.IsObject() || member.IsArray() {
			f.visit(member, depth+1)
		}
		return true
	})
	if kind.Str == "image" || kind.Str == "audio" {
		f.replace(data)
	}
	if uri.Type == gjson.String {
		f.replace(blob)
	}
}

// replace notes what takes the place of one string of base64.
func (f *finder) replace(data gjson.Result) {
	if data.Type != gjson.String || len(data.Raw) < minBinaryBytes {
		return
	}
	size, sum := digest(data.Str)
	with := `{"truncated":true,"originalBytes":` + strconv.FormatInt(size, 10) + `,"sha256":"` + sum + `"}`
	f.spans = append(f.spans, span{data.Index, data.Index + len(data.Raw), []byte(with)})
}

// digest returns the length and hash of what the base64 text decodes to, or of
// the text itself where it is none.
func digest(text string) (int64, string) {
	hash := sha256.New()
	size, ok := decodeTo(hash, text)
	if !ok {
		hash.Reset()
		var err error
		size, err = io.Copy(hash, base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
		if err != nil {
			hash.Reset()
			size = int64(len(text))
			io.WriteString(hash, text)
		}
	}
	return size, hex.EncodeToString(hash.Sum(nil))
}

// decodeTo decodes base64 without line ends, as blocks have it, in large pieces; it
// is several times as fast as a decoder that reads.
func decodeTo(hash io.Writer, text string) (size int64, ok bool) {
	const piece = 4096
	var from [piece]byte
	var to [piece / 4 * 3]byte
	for len(text) > 0 {
		n := copy(from[:], text)
		text = text[n:]
		decoded, err := base64.StdEncoding.Decode(to[:], from[:n])
		if err != nil || len(text) > 0 && decoded < len(to) {
			return 0, false
		}
		hash.Write(to[:decoded])
		size += int64(decoded)
	}
	return size, true
}
