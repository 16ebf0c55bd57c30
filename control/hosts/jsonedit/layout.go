package jsonedit

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// layOut writes a value over several lines where the file does so. indent is that of
// the line on which the value starts.
func (d *Doc) layOut(value json.RawMessage, indent string) (string, error) {
	if !d.multiline() {
		return compact(value)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, value, indent, d.unit()); err != nil {
		return "", err
	}
	return strings.ReplaceAll(b.String(), "\n", d.newline()), nil
}

// layOutBeside writes a value for a place after others: on one line if they are.
func (d *Doc) layOutBeside(gap, indent string, value json.RawMessage) (string, error) {
	if !strings.Contains(gap, "\n") {
		return compact(value)
	}
	return d.layOut(value, indent)
}

func compact(value json.RawMessage) (string, error) {
	var b bytes.Buffer
	err := json.Compact(&b, value)
	return b.String(), err
}

func (d *Doc) newline() string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// multiline says whether the file is laid out at all: one long line stays one.
func (d *Doc) multiline() bool {
	return bytes.IndexByte(bytes.TrimRight(d.text, "\r\n"), '\n') >= 0 || len(d.Root().items()) == 0
}

// unit is what the file indents by: what is before the first key of its first line
// with one.
func (d *Doc) unit() string {
	for v := range d.root.All() {
		object, ok := v.Value.(*hujson.Object)
		if !ok || len(object.Members) == 0 {
			continue
		}
		outer := d.indentOf(Node{d, v})
		inner, own := lastLine(object.Members[0].Name.BeforeExtra)
		if unit, ok := strings.CutPrefix(inner, outer); own && ok && unit != "" {
			return unit
		}
	}
	return "  "
}

// indentOf is the indentation of the line on which a value starts.
func (d *Doc) indentOf(n Node) string {
	line := d.text[d.bom:n.start()]
	if i := bytes.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	return leading(string(line))
}

// lastLine is the indentation after an extra's last line end, if it has one.
func lastLine(extra hujson.Extra) (string, bool) {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	return leading(string(extra[i+1:])), true
}

func leading(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }
