package transcript

import (
	"io"
	"time"

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
	t := Turn{Mark: Mark{Path: path, Size: -1}}
	first := skip > 0 // then the first line lacks its beginning
	found := false
	_, err = eachLine(f, func(line []byte, at int64) {
		if !first && !found {
			found = t.begin(line, promptID, skip+at)
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

// begin takes in a line and says whether it is the prompt. The turn starts with the
// first line that has its id, which may be one that the client added.
func (t *Turn) begin(line []byte, promptID string, at int64) bool {
	fields := gjson.GetManyBytes(line, "promptId", "type", "timestamp", "isMeta", "message.content")
	if fields[0].String() != promptID || fields[1].String() != "user" {
		return false
	}
	if t.Mark.Size < 0 {
		t.Mark.Size, t.Mark.At = at, fields[2].Time().Truncate(time.Millisecond)
	}
	text, ok := promptOf(fields[4])
	if fields[3].Bool() || !ok {
		return false
	}
	t.Prompt = text
	return true
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
