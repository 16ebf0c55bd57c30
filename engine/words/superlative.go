package words

import "strings"

// Direction is the end of a range that a superlative asks for.
type Direction int

// The directions.
const (
	None Direction = iota
	Largest
	Smallest
)

// meanings are superlatives that do not carry the name of their field. The first
// word of a field list that starts with "date:" stands for dates.
var meanings = map[string]struct {
	direction Direction
	fields    string
}{
	"oldest":    {Smallest, "date: created started opened time since birth age"},
	"earliest":  {Smallest, "date: created started time"},
	"newest":    {Largest, "date: created updated time version"},
	"latest":    {Largest, "date: created updated time version"},
	"recent":    {Largest, "date: created updated time"},
	"youngest":  {Largest, "date: created birth age"},
	"cheapest":  {Smallest, "price cost amount fee total"},
	"expensive": {Largest, "price cost amount fee total"},
	"priciest":  {Largest, "price cost"},
	"largest":   {Largest, "size bytes length area total amount volume population"},
	"biggest":   {Largest, "size bytes length area total amount volume population"},
	"smallest":  {Smallest, "size bytes length area total amount volume population"},
	"longest":   {Largest, "length duration time size distance"},
	"shortest":  {Smallest, "length duration time size distance"},
	"fastest":   {Smallest, "duration latency time ms elapsed"},
	"slowest":   {Largest, "duration latency time ms elapsed"},
	"hottest":   {Largest, "temperature temp heat celsius"},
	"warmest":   {Largest, "temperature temp celsius"},
	"coldest":   {Smallest, "temperature temp celsius"},
	"heaviest":  {Largest, "weight mass kg"},
	"lightest":  {Smallest, "weight mass kg"},
	"busiest":   {Largest, "load usage requests count traffic cpu"},
	"worst":     {Largest, "errors failures risk severity"},
	"best":      {Largest, "score rating rank"},
	"safest":    {Smallest, "risk danger"},
	"popular":   {Largest, "stars votes views downloads likes"},
	"urgent":    {Largest, "priority severity urgency"},
}

var directions = map[string]Direction{
	"highest": Largest, "most": Largest, "maximum": Largest, "max": Largest, "greatest": Largest, "top": Largest, "largest": Largest, "biggest": Largest,
	"lowest": Smallest, "least": Smallest, "fewest": Smallest, "minimum": Smallest, "min": Smallest, "smallest": Smallest,
}

// Superlative is one word of a prompt that asks for an extreme.
type Superlative struct {
	Word      string
	Direction Direction
}

// Superlatives are the words of a prompt that ask for an extreme, in order.
func Superlatives(tokens []Token) []Superlative {
	var found []Superlative
	for _, token := range tokens {
		word := strings.ToLower(token.Text)
		switch m, known := meanings[word]; {
		case token.Quoted:
		case directions[word] != None:
			found = append(found, Superlative{word, directions[word]})
		case known:
			found = append(found, Superlative{word, m.direction})
		case len(word) > 5 && strings.HasSuffix(word, "est") && !notSuperlative[word]:
			found = append(found, Superlative{word, Largest})
		}
	}
	return found
}

var notSuperlative = set("request interest forest harvest manifest suggest digest invest contest protest")

// Fit says how strongly a superlative asks for a field: 3 by its own stem
// (riskiest, risk), 2 by a word beside it (highest risk) or by its meaning
// (cheapest, price), 0 not at all. dates tells that the field holds dates.
func (s Superlative) Fit(field string, dates bool, tokens []Token) int {
	segments := Segments(field)
	for _, segment := range segments {
		if stem := superlativeStem(s.Word); stem != "" && Related(stem, segment) {
			return 3
		}
	}
	if fields, ok := meanings[s.Word]; ok {
		if dates && strings.HasPrefix(fields.fields, "date:") {
			return 3
		}
		for _, meant := range strings.Fields(fields.fields) {
			for _, segment := range segments {
				if meant == segment {
					return 2
				}
			}
		}
	}
	if directions[s.Word] != None && besides(s.Word, segments, tokens) {
		return 3
	}
	return 0
}

// besides looks for a segment among the words right after the superlative:
// "the highest average risk", and "the device with the most open errors".
func besides(word string, segments []string, tokens []Token) bool {
	for i, token := range tokens {
		if strings.ToLower(token.Text) != word {
			continue
		}
		for _, near := range tokens[i+1 : min(i+4, len(tokens))] {
			for _, segment := range segments {
				if Related(near.Text, segment) {
					return true
				}
			}
		}
	}
	return false
}

func superlativeStem(word string) string {
	if directions[word] != None || !strings.HasSuffix(word, "est") {
		return ""
	}
	stem := strings.TrimSuffix(word, "est")
	return strings.TrimSuffix(stem, "i")
}

const minStemRunes = 4

// Related tells whether two words share a stem: thresholds and threshold, risk
// and risky.
func Related(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == "" || b == "" {
		return false
	}
	if a == b || Singular(a) == b || Singular(b) == a {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= minStemRunes && strings.HasPrefix(b, a) && len(b)-len(a) <= 3
}
