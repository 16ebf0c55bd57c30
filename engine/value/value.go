// Package value reads JSON without losing anything that a comparison needs: the
// order of keys and the text of numbers. It says where two values first differ.
// It never writes values and knows nothing of scenarios.
package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Kind is the type of a JSON value.
type Kind int

// The types of JSON values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Node is one JSON value.
type Node struct {
	Kind  Kind
	Text  string   // a string's value, a number's text, "true" or "false"
	Keys  []string // an object's keys, as written
	Items []*Node  // an array's elements, or an object's values in the order of Keys
}

// Parse reads exactly one JSON value. Of a key given twice the last one counts,
// as in JavaScript.
func Parse(text []byte) (*Node, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	node, err := read(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return node, nil
}

// Get is the value of a key, nil without it.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for i, k := range n.Keys {
		if k == key {
			return n.Items[i]
		}
	}
	return nil
}

// Scalar tells leaves from arrays and objects.
func (n *Node) Scalar() bool { return n.Kind != Array && n.Kind != Object }

func read(dec *json.Decoder) (*Node, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case nil:
		return &Node{Kind: Null}, nil
	case bool:
		return &Node{Kind: Bool, Text: fmt.Sprint(t)}, nil
	case json.Number:
		return &Node{Kind: Number, Text: t.String()}, nil
	case string:
		return &Node{Kind: String, Text: t}, nil
	case json.Delim:
		if t == '{' {
			return readObject(dec)
		}
		return readArray(dec)
	}
	return nil, fmt.Errorf("unexpected %v", token)
}

func readArray(dec *json.Decoder) (*Node, error) {
	node := &Node{Kind: Array}
	for dec.More() {
		item, err := read(dec)
		if err != nil {
			return nil, err
		}
		node.Items = append(node.Items, item)
	}
	_, err := dec.Token()
	return node, err
}

func readObject(dec *json.Decoder) (*Node, error) {
	node := &Node{Kind: Object}
	at := map[string]int{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		item, err := read(dec)
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if i, again := at[key]; again {
			node.Items[i] = item
			continue
		}
		at[key] = len(node.Keys)
		node.Keys = append(node.Keys, key)
		node.Items = append(node.Items, item)
	}
	_, err := dec.Token()
	return node, err
}
