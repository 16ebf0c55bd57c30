package derive

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bir-run/bir/engine"
	"github.com/bir-run/bir/engine/words"
)

// item is a word of the recorded prompt, or the slot of a parameter in it.
type item struct {
	word  string // lower case
	slot  string // the parameter's name; empty for a word
	count int    // words of the sample, for a slot
}

func tokens(prompt string) []words.Token { return words.Tokens(prompt) }

func sortedNames(params map[string]engine.Param) []string {
	var names []string
	for name := range params {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func sampleText(p engine.Param) string {
	var text string
	if json.Unmarshal(p.SampleValue, &text) == nil {
		return text
	}
	return string(p.SampleValue)
}

// template cuts the recorded prompt into words and slots. Longer samples are
// placed first, so that eu-west-07 is not taken for eu-west.
func template(prompt string, params map[string]engine.Param) []item {
	list := tokens(prompt)
	owner := make([]string, len(list))
	names := sortedNames(params)
	slices.SortStableFunc(names, func(a, b string) int {
		return len(sampleText(params[b])) - len(sampleText(params[a]))
	})
	for _, name := range names {
		place(list, owner, name, sampleText(params[name]))
	}
	var items []item
	for i, token := range list {
		switch {
		case owner[i] == "":
			items = append(items, item{word: strings.ToLower(token.Text)})
		case i > 0 && owner[i] == owner[i-1] && continues(list, i, sampleText(params[owner[i]])):
			items[len(items)-1].count++
		default:
			items = append(items, item{slot: owner[i], count: 1})
		}
	}
	return items
}

// place marks the tokens that a sample covers. Every place where it stands is a
// slot, since the new prompt will repeat its value there too.
func place(list []words.Token, owner []string, name, sample string) {
	parts := words.Tokens(sample)
	whole := len(parts)
	for i := range list {
		n := 1
		if list[i].Text != sample {
			n = whole
			if n == 0 || !sameWords(list, i, parts) {
				continue
			}
		}
		if free := owner[i:min(i+n, len(owner))]; slices.Index(free, "") == 0 && !slices.ContainsFunc(free, func(o string) bool { return o != "" }) {
			for j := range free {
				free[j] = name
			}
		}
	}
}

func sameWords(list []words.Token, at int, parts []words.Token) bool {
	if at+len(parts) > len(list) {
		return false
	}
	for i, part := range parts {
		if list[at+i].Text != part.Text {
			return false
		}
	}
	return true
}

// continues tells a further word of a sample from its next occurrence.
func continues(list []words.Token, i int, sample string) bool {
	first := words.Tokens(sample)
	return len(first) > 1 && list[i].Text != first[0].Text
}

// align pairs the words of the two prompts: a longest common subsequence in which
// slots match nothing. pairs[i] is the token for item i, or -1.
func align(items []item, given []words.Token) []int {
	n, m := len(items), len(given)
	longest := make([][]int, n+1)
	for i := range longest {
		longest[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if matches(items[i], given[j]) {
				longest[i][j] = max(longest[i][j], longest[i+1][j+1]+1)
			}
		}
	}
	pairs := make([]int, n)
	for i, j := 0, 0; i < n; i++ {
		pairs[i] = -1
		for j < m && longest[i][j] > longest[i+1][j] {
			if matches(items[i], given[j]) && longest[i][j] == longest[i+1][j+1]+1 {
				pairs[i] = j
				j++
				break
			}
			j++
		}
	}
	return pairs
}

func matches(it item, token words.Token) bool {
	return it.slot == "" && !token.Quoted && words.Same(it.word, token.Text)
}
