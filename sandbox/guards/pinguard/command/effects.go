package command

import (
	"slices"
	"strings"
)

// effects compares the options that change what the program does, the words that
// are not known before it runs, and the hosts that the words name.
func (a *argv) effects(spec spec, args []word) {
	var found, dynamic, hosts []string
	ended := false
	for i, w := range args {
		if w.dynamic {
			dynamic = append(dynamic, w.text)
		}
		if host := hostOf(w.text); host != "" {
			hosts = append(hosts, host)
		}
		if name, value, attached := strings.Cut(w.text, "="); spec.context != "" && w.isOption() && hasOption(spec.context, name) {
			if !attached && i+1 < len(args) {
				value = args[i+1].text
			}
			hosts = append(hosts, name+" "+value)
		}
		if w.text == "--" {
			ended = true
		}
		if w.isOption() && !ended {
			found = append(found, spec.matching(spec.effects, w.text)...)
		}
		if spec.signs != "" && !w.isOption() && w.text != "" && strings.ContainsAny(w.text[:1], spec.signs) {
			found = append(found, w.text)
		}
	}
	if spec.urls {
		hosts = append(hosts, bareHosts(spec.operands(args))...)
	}
	a.sorted(effect, found)
	a.sorted(fixed, dynamic)
	slices.Sort(hosts)
	a.out.add(place, strings.Join(hosts, " "))
}

// sorted adds the texts without regard to their order on the command line.
func (a *argv) sorted(k kind, texts []string) {
	slices.Sort(texts)
	for _, t := range texts {
		a.out.add(k, t)
	}
}

// strictFor tells whether an option is there with which every word matters.
func (s spec) strictFor(args []word) bool {
	return slices.ContainsFunc(args, func(w word) bool { return w.isOption() && s.matching(s.strictOn, w.text) != nil })
}

// matching lists which of the options are in the word. Many programs take --del for
// --delete, and -xf for -x -f.
func (s spec) matching(options, text string) (found []string) {
	if options == "" {
		return nil
	}
	name, _, _ := strings.Cut(text, "=")
	if hasOption(options, name) {
		return []string{name}
	}
	if s.longDash || strings.HasPrefix(name, "--") {
		i := strings.Index(" "+options, " "+name)
		if len(name) < 4 || i < 0 {
			return nil
		}
		whole, _, _ := strings.Cut(options[i:], " ")
		return []string{whole}
	}
	for _, letter := range s.letters(name) {
		if o := "-" + string(letter); hasOption(options, o) {
			found = append(found, o)
		}
	}
	return found
}

// letters are the options in a word such as -xvf, up to one that takes the rest of
// the word as its value.
func (s spec) letters(word string) string {
	for i := 1; i < len(word); i++ {
		if hasOption(s.valued, "-"+word[i:i+1]) {
			return word[1 : i+1]
		}
	}
	return word[1:]
}

// hostOf is the scheme and what stands before the path of a URL, the name of a
// user and the port included.
func hostOf(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme == "" {
		return ""
	}
	if i := strings.IndexAny(rest, "/?#\\"); i >= 0 {
		rest = rest[:i]
	}
	return strings.ToLower(scheme + "://" + rest)
}

// bareHosts are those of URLs without a scheme: example.org/path.
func bareHosts(operands []word) (hosts []string) {
	for _, w := range operands {
		if hostOf(w.text) == "" {
			host, _, _ := strings.Cut(w.text, "/")
			hosts = append(hosts, strings.ToLower(host))
		}
	}
	return hosts
}

// isDangerousName tells of a program or a subcommand that destroys, installs or
// publishes. Such a call is the step only with the step's words.
func isDangerousName(name string) bool {
	name = strings.ToLower(name)
	return dangerous[name] || slices.ContainsFunc(strings.FieldsFunc(name, isSeparator), func(w string) bool { return dangerous[w] })
}

func isSeparator(r rune) bool { return r == '-' || r == '_' || r == ':' || r == '=' }

// isDangerousWord reads the words of an option, such as --delete-all, and of what may
// be a subcommand. A single letter says too little.
func isDangerousWord(w word) bool {
	name := strings.TrimPrefix(w.text, "/") // net user a /delete
	return len(name) > 2 && (w.isOption() || isBareWord(name)) && isDangerousName(name)
}
