package transcript

import (
	"io"

	"github.com/tidwall/gjson"
)

// tailBytes is how much of a transcript's end is searched for the beginning of the
// turn under way.
const tailBytes = 8 << 20

// Turn is a turn whose beginning nobody was there to see.
type Turn struct {
	Mark   Mark
	Prompt string
}

// Find looks for the turn of a prompt, by the id that Claude Code gave it. It reads
// only the end of the file, where the turn under way is.
func Find(path, promptID string) (Turn, bool) {
	if promptID == "" {
		return Turn{}, false
	}
	f, info, err := open(path)
	if err != nil {
		return Turn{}, false
	}
	defer f.Close()
	skip := max(info.Size()-tailBytes, 0)
	if _, err := f.Seek(skip, io.SeekStart); err != nil {
		return Turn{}, false
	}
	t := Turn{Mark: Mark{Path: path}}
	first := skip > 0 // then the first line lacks its beginning
	var found, sure bool
	_, err = eachLine(f, func(line []byte, at int64) {
		if !first && (!found || sure) {
			is, marked := t.begin(line, promptID, skip+at)
			found, sure = found || is, sure || marked
		}
		first = false
	})
	if err != nil || !found {
		return Turn{}, false
	}
	if t.Mark.Size > 0 {
		t.Mark.Head = head(f, t.Mark.Size)
	}
	return t, true
}

// begin takes in a line and says whether it is the prompt, and whether the client
// marked it as one. A fork gives the lines that it copies the id of its own prompt:
// so the last marked line counts, and the first where none is.
func (t *Turn) begin(line []byte, promptID string, at int64) (found, marked bool) {
	fields := gjson.GetManyBytes(line, "promptId", "type", "timestamp", "isMeta", "message.content", "promptSource")
	if fields[0].String() != promptID || fields[1].String() != "user" || fields[3].Bool() {
		return false, false
	}
	text, ok := promptOf(fields[4])
	marked = fields[5].Exists()
	if !ok || (t.Prompt != "" && !marked) {
		return false, false
	}
	t.Prompt, t.Mark.Size, t.Mark.At = text, at, fields[2].Time()
	return true, marked
}

// promptOf tells what a user wrote from the results of tools.
func promptOf(content gjson.Result) (string, bool) {
	if !content.IsArray() {
		return content.String(), true
	}
	if content.Get(`#(type=="tool_result")`).Exists() {
		return "", false
	}
	return textOf(content), true
}
