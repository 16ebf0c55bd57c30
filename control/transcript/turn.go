package transcript

import (
	"errors"
	"io"
	"os"
	"strings"

	"github.com/tidwall/gjson"
)

// tailBytes is how much of a transcript's end is looked at for the last turn. One
// message with its tool results seldom has more.
const tailBytes = 4 << 20

// Turn is what the end of a transcript says about the turn that just ended.
type Turn struct {
	Answer    string            // the text of the last message without a tool call
	Reasoning map[string]string // by tool use id: what the model said before the call
}

// Last reads the end of the main transcript. A file that is not there yet gives an
// empty turn.
func Last(path string) (Turn, error) {
	t := Turn{Reasoning: map[string]string{}}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return t, err
	}
	skip := max(info.Size()-tailBytes, 0)
	if _, err := f.Seek(skip, io.SeekStart); err != nil {
		return t, err
	}
	var b builder
	first := skip > 0 // then the first line lacks its beginning
	_, err = eachLine(f, func(line []byte) {
		if !first {
			b.line(line, &t)
		}
		first = false
	})
	b.close(&t)
	return t, err
}

// builder puts the lines of a message together: one line is one content block.
type builder struct {
	id    string
	said  []string
	calls bool
}

func (b *builder) line(line []byte, t *Turn) {
	fields := gjson.GetManyBytes(line, "type", "message.id", "message.content", "isSidechain", "message.model")
	if fields[3].Bool() || fields[4].String() == synthetic {
		return
	}
	switch fields[0].String() {
	case "user":
		if isPrompt(fields[2]) {
			b.close(t)
			t.Answer = "" // of the turn before
		}
		return
	case "assistant":
	default:
		return
	}
	if id := fields[1].String(); id != b.id {
		b.close(t)
		*b = builder{id: id}
	}
	for _, block := range fields[2].Array() {
		switch block.Get("type").String() {
		case "text":
			b.said = append(b.said, block.Get("text").String())
		case "tool_use":
			b.calls = true
			t.Reasoning[block.Get("id").String()] = strings.Join(b.said, "\n")
		}
	}
}

// close ends a message. One without a tool call is an answer.
func (b *builder) close(t *Turn) {
	if b.id != "" && !b.calls && len(b.said) > 0 {
		t.Answer = strings.Join(b.said, "\n")
	}
	*b = builder{}
}

// isPrompt tells what a user wrote from the results of tools.
func isPrompt(content gjson.Result) bool {
	if !content.IsArray() {
		return true
	}
	return content.Get(`#(type=="tool_result")`).Raw == ""
}
