package regex

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strconv"
	"strings"
	"sync"
)

//go:embed properties.txt.gz
var propertiesGz []byte

// properties are the spans' texts by kind and name. They are unpacked when the
// first pattern names one, in about a millisecond.
var properties = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	unpacked, err := gzip.NewReader(bytes.NewReader(propertiesGz))
	if err != nil {
		return texts // a broken build, which the tests see: no name is known then
	}
	data, _ := io.ReadAll(unpacked)
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for _, name := range strings.Split(fields[1], ",") {
			texts[fields[0]+"="+name] = fields[2]
		}
	}
	return texts
})

var propertySets sync.Map // of *set, by kind and name

// kinds are how a pattern may say what sort of property it names.
var kinds = map[string]string{
	"General_Category": "gc", "gc": "gc",
	"Script": "sc", "sc": "sc",
	"Script_Extensions": "scx", "scx": "scx",
}

// ofStrings are the properties that only the v flag knows: they hold sequences.
var ofStrings = map[string]bool{
	"Basic_Emoji": true, "Emoji_Keycap_Sequence": true, "RGI_Modifier_Sequence": true, "RGI_Flag_Sequence": true,
	"RGI_Emoji": true, "RGI_Emoji_Modifier_Sequence": true, "RGI_Emoji_Flag_Sequence": true,
	"RGI_Emoji_Tag_Sequence": true, "RGI_Emoji_ZWJ_Sequence": true,
}

// property is the set that the text between the braces of \p{…} names.
func property(text string, sets bool) *set {
	kind, value, typed := strings.Cut(text, "=")
	if typed {
		known, ok := kinds[kind]
		if !ok {
			refuse("Invalid property name")
		}
		return named(known, value)
	}
	if ofStrings[text] && sets {
		return sequences(text)
	}
	if _, ok := properties()["gc="+text]; ok {
		return named("gc", text)
	}
	return named("binary", text)
}

// sequences are the properties of strings that can be spelled out; the others
// are long lists that bodies do without.
func sequences(name string) *set {
	out := &set{}
	switch name {
	case "Emoji_Keycap_Sequence":
		for _, key := range "#*0123456789" {
			out.strings = append(out.strings, []rune{key, 0xFE0F, 0x20E3})
		}
	default:
		refuse("\\p{%s}, a property of strings, is not available in bodies", name)
	}
	return out
}

func named(kind, name string) *set {
	key := kind + "=" + name
	if s, ok := propertySets.Load(key); ok {
		return s.(*set)
	}
	text, ok := properties()[key]
	if !ok {
		refuse("Invalid property name")
	}
	s := &set{}
	end := 0
	fields := strings.Fields(text)
	for i := 0; i+1 < len(fields); i += 2 {
		gap, _ := strconv.ParseInt(fields[i], 36, 32)
		count, _ := strconv.ParseInt(fields[i+1], 36, 32)
		start := end + int(gap)
		end = start + int(count)
		s.add(rune(start), rune(end-1))
	}
	propertySets.Store(key, s)
	return s
}
