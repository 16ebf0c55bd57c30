package derive

import (
	"fmt"
	"strings"

	"github.com/bir-run/bir/engine/words"
)

// judgement weighs the words outside the parameters.
type judgement struct {
	matched, recorded, given float64
	gone, added              []string
	swaps                    int      // a word of meaning in place of another
	turned                   bool     // a negation came or went
	doubts                   []string // values that could have been cut otherwise
}

// The weights. A word such as "the" says little about the task; one word of
// meaning in place of another mostly makes it a different one.
const (
	wordWeight  = 1.0
	stopWeight  = 0.25
	swapPenalty = 0.2
	doubtCost   = 0.1
)

func weight(word string) float64 {
	if words.Stop(word) {
		return stopWeight
	}
	return wordWeight
}

func (j *judgement) confidence() float64 {
	if j.recorded+j.given == 0 {
		return 1
	}
	c := 2*j.matched/(j.recorded+j.given) - swapPenalty*float64(j.swaps) - doubtCost*float64(len(j.doubts))
	return max(0, c)
}

func (j *judgement) note() string {
	var notes []string
	if len(j.gone) > 0 {
		notes = append(notes, "without "+strings.Join(j.gone, " "))
	}
	if len(j.added) > 0 {
		notes = append(notes, "with "+strings.Join(j.added, " "))
	}
	return strings.Join(append(notes, j.doubts...), "; ")
}

// fill takes the values of the slots from between the paired words.
func fill(items []item, given []words.Token, pairs []int, prompt string) (map[string]string, *judgement) {
	found := map[string]string{}
	j := &judgement{}
	nextToken := 0
	for i := 0; i <= len(items); {
		end := i
		for end < len(items) && pairs[end] < 0 {
			end++
		}
		until := len(given)
		if end < len(items) {
			until = pairs[end]
		}
		j.gap(items[i:end], given[nextToken:until], end == len(items), prompt, found)
		if end == len(items) {
			break
		}
		j.matched += weight(items[end].word)
		j.recorded += weight(items[end].word)
		j.given += weight(items[end].word)
		nextToken, i = until+1, end+1
	}
	return found, j
}

// gap handles what lies between two paired words: items of the recorded prompt
// that were not found, and new words in their place.
func (j *judgement) gap(items []item, given []words.Token, last bool, prompt string, found map[string]string) {
	var slots []item
	var before, after []string // recorded words around the slots
	for _, it := range items {
		switch {
		case it.slot != "":
			slots = append(slots, it)
		case len(slots) == 0:
			before = append(before, it.word)
		default:
			after = append(after, it.word)
		}
	}
	given = trimFillers(given, last || len(slots) == 0)
	if len(slots) == 0 {
		j.differ(before, given)
		return
	}
	// Words that replaced the recorded ones stand at the edges; what is left in the
	// middle is the value. Without any, everything between the neighbours is.
	lead := min(len(before), max(0, len(given)-len(slots)))
	j.differ(before, given[:lead])
	given = given[lead:]
	tail := min(len(after), max(0, len(given)-len(slots)))
	j.differ(after, given[len(given)-tail:])
	given = given[:len(given)-tail]
	if lead+tail > 0 {
		j.doubts = append(j.doubts, "the words around "+slots[0].slot+" differ")
	}
	j.values(slots, given, prompt, found)
}

func trimFillers(given []words.Token, all bool) []words.Token {
	for all && len(given) > 0 && words.Filler(given[len(given)-1].Text) {
		given = given[:len(given)-1]
	}
	for all && len(given) > 0 && words.Filler(given[0].Text) {
		given = given[1:]
	}
	return given
}

// values shares the words of a gap among its slots.
func (j *judgement) values(slots []item, given []words.Token, prompt string, found map[string]string) {
	if len(given) == 0 {
		return
	}
	for i, slot := range slots {
		n := slot.count
		if i == len(slots)-1 {
			n = len(given)
		} else if total := count(slots[i:]); total != len(given) {
			j.doubts = append(j.doubts, fmt.Sprintf("where %s ends is not certain", slot.slot))
		}
		n = min(n, len(given))
		if n == 0 {
			return
		}
		j.take(slot.slot, prompt[given[0].Start:given[n-1].End], found)
		given = given[n:]
	}
}

func count(slots []item) int {
	n := 0
	for _, s := range slots {
		n += s.count
	}
	return n
}

// take keeps the first value of a parameter that stands in several places; a
// second one that differs makes the reading doubtful.
func (j *judgement) take(name, text string, found map[string]string) {
	if known, ok := found[name]; ok && known != text {
		j.doubts = append(j.doubts, fmt.Sprintf("%s is both %q and %q", name, known, text))
		return
	}
	found[name] = text
}

// differ books words that are only in one of the prompts.
func (j *judgement) differ(recorded []string, given []words.Token) {
	meaningGone, meaningNew := false, false
	for _, word := range recorded {
		if words.Filler(word) {
			continue
		}
		j.recorded += weight(word)
		j.gone = append(j.gone, word)
		meaningGone = meaningGone || !words.Stop(word)
		j.turned = j.turned || words.Negation(word)
	}
	for _, token := range given {
		if words.Filler(token.Text) {
			continue
		}
		j.given += weight(token.Text)
		j.added = append(j.added, token.Text)
		meaningNew = meaningNew || !words.Stop(token.Text)
		j.turned = j.turned || words.Negation(token.Text)
	}
	if meaningGone && meaningNew {
		j.swaps++
	}
}
