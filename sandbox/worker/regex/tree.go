package regex

// node is a part of a pattern. The flags that modifiers can change are resolved
// while parsing and stand on the nodes that they concern.
type node interface{}

type (
	sequence []node
	choice   []node // alternatives, tried in order

	literal struct {
		char rune
		fold bool
	}
	class struct {
		set  *set
		fold bool
	}
	capture struct {
		number int
		body   node
	}
	look struct {
		behind, negative bool
		body             node
	}
	assertion struct {
		kind assertionKind
		fold bool // of a word's boundary: the letters of \w follow the flags i and u
	}
	reference struct {
		numbers []int
		fold    bool
	}
	repeat struct {
		min, max    int // max is infinite for noLimit
		greedy      bool
		body        node
		first, last int // the groups inside: [first, last)
	}
)

const noLimit = 1<<31 - 1

type assertionKind int

const (
	inputStart assertionKind = iota
	inputEnd
	lineStart
	lineEnd
	wordBoundary
	noWordBoundary
)

// nullable tells whether a node can match nothing at all.
func nullable(n node) bool {
	switch n := n.(type) {
	case sequence:
		for _, part := range n {
			if !nullable(part) {
				return false
			}
		}
		return true
	case choice:
		for _, part := range n {
			if nullable(part) {
				return true
			}
		}
		return false
	case literal, class:
		return false
	case capture:
		return nullable(n.body)
	case repeat:
		return n.min == 0 || nullable(n.body)
	}
	return true
}
