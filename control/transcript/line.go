package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/bir-run/bir/recorder"
)

// synthetic is the model of lines that the client wrote itself, such as API errors.
const synthetic = "<synthetic>"

// Call is a tool call as the transcript tells of it.
type Call struct {
	ID    string    `json:"id"`
	Tool  string    `json:"tool"`
	Agent string    `json:"agent,omitempty"` // of the subagent that called
	Began time.Time `json:"began"`
	Ended time.Time `json:"ended,omitzero"` // zero without a result

	Input  json.RawMessage `json:"input,omitempty"`
	Result json.RawMessage `json:"result,omitempty"` // as a hook would have shown it
	Error  string          `json:"error,omitempty"`  // in place of a result
	// Denial is why it did not run or was stopped, "user-rejected"; BeforeRun tells
	// the two apart, and Decider who decided, where that was not a person: "config".
	Denial    string `json:"denial,omitempty"`
	BeforeRun bool   `json:"beforeRun,omitempty"`
	Decider   string `json:"decider,omitempty"`

	use, result place
}

// place is where a line stands.
type place struct {
	path   string
	offset int64
	length int
}

// builder puts the lines of a message together: one line is one content block.
type builder struct {
	id    string
	said  []string // thinking, too
	text  []string
	calls bool
}

// line takes in one line of a file, which stands at the offset.
func (l *Ledger) line(f *file, text []byte, offset int64) {
	if !bytes.Contains(text, []byte(`"message"`)) {
		return
	}
	fields := gjson.GetManyBytes(text, "type", "timestamp", "message", "agentId", "version", "isSidechain", "promptId")
	agent, at := f.agent, fields[1].Time()
	if agent == "" {
		agent = strings.Clone(fields[3].String()) // older clients write subagents into the main file
	}
	if v := fields[4].String(); v != "" {
		l.version = strings.Clone(v)
	}
	if at.Before(l.mark.At) {
		return // copied from another session, or of an earlier turn of this subagent
	}
	if prompt := fields[6].String(); agent != "" && prompt != "" {
		l.agents[strings.Clone(agent)] = strings.Clone(prompt)
	}
	where := place{path: f.path, offset: offset, length: len(text)}
	switch main := agent == "" && !fields[5].Bool(); fields[0].String() {
	case "assistant":
		l.assistant(f, fields[2], message{agent: agent, at: at}, where)
	case "user":
		l.user(fields[2].Get("content"), at, main, where)
	}
}

// assistant takes in one content block of a model's message.
func (l *Ledger) assistant(f *file, m gjson.Result, msg message, where place) {
	id, model := m.Get("id").String(), m.Get("model").String()
	if id == "" || model == synthetic {
		return
	}
	if known := l.messages[id]; known != nil {
		msg.at = known.at
	}
	msg.model, msg.usage = strings.Clone(model), usageOf(m.Get("usage"))
	l.messages[strings.Clone(id)] = &msg
	if id != f.now.id {
		f.now = builder{id: strings.Clone(id)}
	}
	for _, block := range m.Get("content").Array() {
		switch block.Get("type").String() {
		case "thinking":
			f.now.said = add(f.now.said, block.Get("thinking").String())
		case "text":
			f.now.said = add(f.now.said, block.Get("text").String())
			f.now.text = add(f.now.text, block.Get("text").String())
		case "tool_use":
			f.now.calls = true
			l.use(block, strings.Join(f.now.said, "\n"), msg, where)
		}
	}
	if msg.agent == "" {
		l.answer = ""
		if !f.now.calls {
			l.answer = strings.Join(f.now.text, "\n")
		}
	}
}

func add(texts []string, text string) []string {
	if text == "" {
		return texts
	}
	return append(texts, strings.Clone(text))
}

func (l *Ledger) use(block gjson.Result, said string, msg message, where place) {
	id := strings.Clone(block.Get("id").String())
	if id == "" || l.calls[id] != nil {
		return
	}
	l.calls[id] = &Call{ID: id, Tool: strings.Clone(block.Get("name").String()), Agent: msg.agent, Began: msg.at, use: where}
	l.said[id] = said
}

// user takes in what a model was told: results of tools, or something else.
func (l *Ledger) user(content gjson.Result, at time.Time, main bool, where place) {
	results := 0
	for _, block := range blocks(content) {
		if block.Get("type").String() != "tool_result" {
			continue
		}
		results++
		if c := l.calls[block.Get("tool_use_id").String()]; c != nil && c.Ended.IsZero() {
			c.Ended, c.result = at, where
		}
	}
	if main && results == 0 {
		l.asked = at
		l.answer = "" // of the turn before
	}
}

func blocks(content gjson.Result) []gjson.Result {
	if !content.IsArray() {
		return nil
	}
	return content.Array()
}

func usageOf(u gjson.Result) recorder.Usage {
	return recorder.Usage{
		Input:         u.Get("input_tokens").Int(),
		Output:        u.Get("output_tokens").Int(),
		CacheCreation: u.Get("cache_creation_input_tokens").Int(),
		CacheRead:     u.Get("cache_read_input_tokens").Int(),
	}
}

// Calls lists the calls that the caller wants, by when they began, with what they
// were given and what came of them, of which the caller knows nothing yet. Their texts are read from the files once more:
// nearly always nobody wants any.
func (l *Ledger) Calls(want func(Call) bool) ([]Call, error) {
	var out []Call
	for _, known := range l.calls {
		if !want(*known) {
			continue
		}
		c := *known
		if err := c.fill(); err != nil {
			return nil, fmt.Errorf("read %s again: %w", filepath.Base(c.use.path), err)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Call) int {
		if n := a.Began.Compare(b.Began); n != 0 {
			return n
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out, nil
}

// fill reads the texts of a call.
func (c *Call) fill() error {
	line, err := c.use.read()
	if err != nil {
		return err
	}
	for _, block := range gjson.GetBytes(line, "message.content").Array() {
		if block.Get("id").String() == c.ID {
			c.Input = json.RawMessage(block.Get("input").Raw)
		}
	}
	if c.Ended.IsZero() {
		return nil
	}
	if line, err = c.result.read(); err != nil {
		return err
	}
	fields := gjson.GetManyBytes(line, "toolUseResult", "toolDenialKind", "toolDenialBeforeRun", "message.content", "permissionDecision.source")
	c.Denial, c.BeforeRun, c.Decider = fields[1].String(), fields[2].Bool(), fields[4].String()
	for _, block := range fields[3].Array() {
		if block.Get("tool_use_id").String() != c.ID {
			continue
		}
		switch result := fields[0].Raw; {
		case block.Get("is_error").Bool():
			c.Error = textOf(block.Get("content"))
		case result != "":
			c.Result = json.RawMessage(result)
		default: // a subagent's line says it only once
			c.Result = json.RawMessage(block.Get("content").Raw)
		}
	}
	return nil
}

// textOf joins the texts of a tool result's content.
func textOf(content gjson.Result) string {
	if !content.IsArray() {
		return content.String()
	}
	var texts []string
	for _, block := range content.Array() {
		texts = append(texts, block.Get("text").String())
	}
	return strings.Join(texts, "\n")
}

// read gives the line again.
func (p place) read() ([]byte, error) {
	f, err := os.Open(p.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line := make([]byte, p.length)
	_, err = f.ReadAt(line, p.offset)
	return line, err
}
