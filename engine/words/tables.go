package words

import (
	"slices"
	"strings"
)

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(list) {
		m[word] = true
	}
	return m
}

var (
	stop = set(`a an the this that these those it its is are was be been of in on at by to for from with into as and or
		then than so if my me i we our us you your please thanks thank now just also all any each every some which what who
		whose where when how do does did can could would should will not no there here out up about per via using use`)

	verbs = set(`find get show read open fetch list look see check write create make add put save send update edit change
		set delete remove drop close merge move copy rename run start stop restart deploy build test search query count
		compare summarise summarize explain describe print report tell give pick choose take download upload`)

	prepositions = set(`in for of from at on to with by about named called titled via into under`)

	labels = set(`region zone city country town street customer client user owner account team project repo repository
		branch tag host server service node device sensor machine cluster namespace environment env table column database
		db schema index file folder directory path url page channel room ticket issue pr order invoice product item sku
		category label status state id name key version release job task author email phone number date month year day
		week language locale currency format limit site building floor department group role model query keyword term topic`)

	settingLabels = set(`top first last limit max maximum min minimum count page size per offset depth timeout format
		sort order locale language verbose days hours minutes weeks months lines rows results`)

	formats = set(`csv json jsonl yaml yml xml html markdown md pdf text txt table toml`)

	fillers = set(`please thanks thank you now kindly pls again ok okay hey hi hello just`)

	negations = set(`not no never don't dont without except but instead cannot can't skip avoid`)

	reserved = set(`break case catch class const continue debugger default delete do else export extends finally for
		function if import in instanceof new return super switch this throw try typeof var void while with yield let static
		enum await null true false undefined params respParams toolOutput result need data text lines arguments eval`)
)

// Stop tells words without a meaning of their own.
func Stop(word string) bool { return stop[strings.ToLower(word)] }

// Verb tells the words that ask for something to be done.
func Verb(word string) bool { return verbs[strings.ToLower(word)] }

// Preposition tells words that a value may follow: "in berlin".
func Preposition(word string) bool { return prepositions[strings.ToLower(word)] }

// Label tells nouns that name the value after them: "region eu-west".
func Label(word string) bool { return labels[strings.ToLower(word)] }

// SettingLabel tells words whose value says how, not what: "top 3".
func SettingLabel(word string) bool { return settingLabels[strings.ToLower(word)] }

// Format tells the names of formats: "as csv".
func Format(word string) bool { return formats[strings.ToLower(word)] }

// Filler tells words of politeness, which change nothing.
func Filler(word string) bool { return fillers[strings.ToLower(word)] }

// Negation tells words that turn a request around.
func Negation(word string) bool { return negations[strings.ToLower(word)] }

// synonyms are words that ask for the same thing.
var synonyms = [][]string{
	{"find", "get", "show", "fetch", "give", "locate", "identify", "determine", "pick"},
	{"write", "create", "make", "produce", "generate", "draft"},
	{"summarise", "summarize", "sum"},
	{"delete", "remove"},
	{"look", "check", "inspect"},
	{"its", "the", "a", "an"},
}

// Same tells whether two words ask for the same thing.
func Same(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if a == b || Singular(a) == b || Singular(b) == a {
		return a != "" && b != ""
	}
	return slices.ContainsFunc(synonyms, func(group []string) bool {
		return slices.Contains(group, a) && slices.Contains(group, b)
	})
}
