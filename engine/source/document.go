// Package source finds the values in the outputs of recorded calls: the readable
// parts of a result, and every place in them that a later input may come from. It
// lists and names places; which of them explains an input is decided elsewhere.
package source

import (
	"fmt"
	"path"
	"strings"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/js"
	"github.com/bir-run/bir/engine/value"
	"github.com/bir-run/bir/engine/words"
)

// Document is one readable part of an output: a JSON value, or a plain text.
type Document struct {
	Step   int         // index of its call
	Access string      // JavaScript that reads it; `result` is the parsed output
	Root   *value.Node // nil for a plain text
	Parsed bool        // Access gives the value itself, not JSON text of it
	Text   string      // a plain text
	Name   string      // what it is about: devices, for .../devices.json
}

// Documents finds the readable parts of a call's output. structuredContent comes
// before the text that repeats it; a structuredContent that only wraps the text
// is left out, since the text is there with every server.
func Documents(step int, call engine.Call, input *value.Node) []*Document {
	name := documentName(call, input)
	root, err := value.Parse([]byte(call.Output))
	if err != nil {
		return []*Document{{Step: step, Access: "toolOutput", Text: call.Output, Name: name}}
	}
	var docs []*Document
	content := root.Get("content")
	switch {
	case content != nil && content.Kind == value.Array:
		docs = resultDocuments(root, content)
	case root.Kind == value.String:
		docs = []*Document{textDocument("result", root.Text)}
	default:
		docs = append(nestedTexts("result", root), &Document{Access: "result", Root: root, Parsed: true})
	}
	for _, d := range docs {
		d.Step, d.Name = step, name
	}
	return docs
}

func resultDocuments(root, content *value.Node) []*Document {
	var docs []*Document
	texts := map[string]bool{}
	for i, block := range content.Items {
		at := fmt.Sprintf("result.content[%d]", i)
		holder := block
		if resource := block.Get("resource"); resource != nil {
			holder, at = resource, at+".resource"
		}
		if text := holder.Get("text"); text != nil && text.Kind == value.String {
			texts[text.Text] = true
			docs = append(docs, textDocument(at+".text", text.Text))
		}
	}
	structured := root.Get("structuredContent")
	if structured == nil || structured.Kind != value.Object || wraps(structured, texts) {
		return docs
	}
	all := []*Document{{Access: "result.structuredContent", Root: structured, Parsed: true}}
	all = append(all, nestedTexts("result.structuredContent", structured)...)
	for _, d := range docs {
		if d.Root == nil || !d.Root.Equal(structured) {
			all = append(all, d)
		}
	}
	return all
}

// wraps tells that structuredContent is the text once more, under a key.
func wraps(structured *value.Node, texts map[string]bool) bool {
	for _, item := range structured.Items {
		if item.Kind != value.String || !texts[item.Text] {
			return false
		}
	}
	return true
}

// nestedTexts are the texts that an object holds directly: {"stdout": "..."}.
func nestedTexts(at string, object *value.Node) []*Document {
	if object.Kind != value.Object {
		return nil
	}
	var docs []*Document
	for i, key := range object.Keys {
		item := object.Items[i]
		if item.Kind != value.String {
			continue
		}
		if doc := textDocument(js.Access(at, key), item.Text); doc.Root != nil || strings.Contains(item.Text, "\n") {
			docs = append(docs, doc)
		}
	}
	return docs
}

func textDocument(at, text string) *Document {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if root, err := value.Parse([]byte(text)); err == nil {
			return &Document{Access: at, Root: root}
		}
	}
	return &Document{Access: at, Text: text}
}

// documentName is a word for what a call read: the file's name, or its extension
// where the name is an id, or else the last noun of the tool's or server's name.
func documentName(call engine.Call, input *value.Node) string {
	name := ""
	EachLeaf(input, func(_ string, leaf *value.Node) {
		if leaf.Kind != value.String || !strings.Contains(leaf.Text, "/") || strings.ContainsAny(leaf.Text, " \n") {
			return
		}
		base := path.Base(leaf.Text)
		ext := path.Ext(base)
		name = strings.TrimSuffix(base, ext)
		if strings.ContainsAny(name, "0123456789") {
			name = strings.TrimPrefix(ext, ".")
		}
	})
	if segments := words.Segments(name); len(segments) > 0 {
		return words.Camel(segments...)
	}
	for _, name := range []string{call.UpstreamTool, call.ServerName} {
		segments := words.Segments(name)
		for i := len(segments) - 1; i >= 0; i-- {
			if !words.Verb(segments[i]) && words.Camel(segments[i]) != "" {
				return words.Camel(segments[i])
			}
		}
	}
	return "items"
}

// EachLeaf visits the leaves of a value in order, with the key they stand under.
func EachLeaf(n *value.Node, visit func(key string, leaf *value.Node)) {
	var walk func(key string, n *value.Node)
	walk = func(key string, n *value.Node) {
		if n.Scalar() {
			visit(key, n)
			return
		}
		for i, item := range n.Items {
			if n.Kind == value.Object {
				key = n.Keys[i]
			}
			walk(key, item)
		}
	}
	walk("", n)
}
