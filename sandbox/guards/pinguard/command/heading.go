package command

import (
	"slices"
	"strings"
)

// head compares the program with its subcommand, the options that change what it
// does, and the hosts it is sent to.
func (a *argv) head(name string, args []word) {
	spec := specOf(name)
	if spec.levels == 0 && len(spec.strictOn) == 0 && !spec.agreesAll { // most programs only read
		a.out.add(program, a.title(name))
		a.effects(spec, args)
		a.inside(spec, args)
		return
	}
	h := readHeading(name, spec, args)
	switch {
	case spec.readsInput && a.piped && len(a.prefix) == 0:
		a.out.demandExact("gives " + name + " what another command writes")
	case spec.runsIt:
		a.runner(h.names[:1], runners[name], spec, args)
	case len(h.names) > 1 && hasOption(spec.runs, h.names[1]):
		a.runner(h.names[:2], runners[name+" "+h.names[1]], spec, args)
	case h.dynamic:
		a.out.demandExact("has a subcommand that is not known before it runs")
	case h.isDangerous(spec, args):
		a.strict(strings.Join(h.title, separator), h.rest)
	case spec.guess && len(args) > 0 && args[0].isOption():
		a.out.add(program, a.title(name))
		a.out.add(operands, textOf(args))
		a.effects(spec, nil)
	default:
		a.plainly(h, spec, args)
	}
}

// plainly compares the name of what is done, and of its operands those that decide
// on more than what is read.
func (a *argv) plainly(h heading, spec spec, args []word) {
	a.out.add(program, a.title(h.title...))
	agrees := spec.agreesAll || hasOption(spec.agrees, h.names[len(h.names)-1])
	if agrees || spec.guess && spec.levels == 1 { // what an unknown program does with them is not known
		a.out.add(operands, textOf(spec.operands(h.rest)))
	}
	a.effects(spec, args)
	a.inside(spec, args)
}

// isDangerous tells a call of which every word counts.
func (h heading) isDangerous(spec spec, args []word) bool {
	if spec.strictFor(args) || spec.guess && slices.ContainsFunc(args, isDangerousWord) || spec.levels > 1 && goesOn(h.rest) {
		return true
	}
	if slices.ContainsFunc(h.names[1:], func(name string) bool { return hasOption(spec.exact, name) }) {
		return true
	}
	stages := h.names[0] == "git" && len(h.names) == 2 && h.names[1] == "add" // it only marks files
	return !stages && slices.ContainsFunc(h.names[1:], isDangerousName)
}

// goesOn finds, after an option, a word that is no option's value and so may name
// what is done: gcloud compute --zone a instances list.
func goesOn(rest []word) bool {
	for i, w := range rest {
		if i > 1 && rest[0].isOption() && isBareWord(w.text) && !rest[i-1].isOption() {
			return true
		}
	}
	return false
}

// heading is a program with the words that name what it does.
type heading struct {
	names   []string // the program and its subcommands
	title   []string // the same with the options among them
	rest    []word
	dynamic bool
}

// readHeading takes an option that it does not know for one with a value, so that
// one more word counts.
func readHeading(name string, spec spec, args []word) heading {
	h := heading{names: []string{name}, title: []string{name}}
	levels, i := spec.levels, 0
	for ; i < len(args) && levels > 0; i++ {
		w := args[i]
		h.dynamic = h.dynamic || w.dynamic
		switch {
		case w.text == "--":
			levels = 0
		case w.isOption() && hasOption(spec.valued, w.text):
			h.title = append(h.title, textOf(args[i:min(i+2, len(args))]))
			i++
		case w.isOption() && spec.guess && spec.levels > 1:
			h.rest = args[i:]
			return h
		case w.isOption():
			h.title = append(h.title, w.text)
			if !strings.Contains(w.text, "=") {
				levels++
			}
		case spec.guess && !isBareWord(w.text):
			h.rest = args[i:]
			return h
		default:
			h.title, h.names = append(h.title, w.text), append(h.names, w.text)
			if len(h.names) != 2 || !hasOption(spec.groups, w.text) {
				levels--
			}
		}
	}
	h.rest = args[min(i, len(args)):]
	return h
}

// isBareWord tells a subcommand from a file, a number or a pattern.
func isBareWord(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && r != '_' && r != ':') {
			return false
		}
	}
	return s != ""
}

// runner takes what npx, npm run or uv run starts for the program. After an option
// that it does not know, every word counts.
func (a *argv) runner(run []string, r runner, spec spec, args []word) {
	a.prefix = append(a.prefix, run...)
	skip := len(run) - 1
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case !w.isOption() && skip > 0:
			skip--
		case !w.isOption():
			a.started(r, args[i:])
			return
		case w.text == "--", hasOption(r.ignored, w.text):
		case (hasOption(r.valued, w.text) || hasOption(spec.valued, w.text)) && i+1 < len(args):
			a.prefix = append(a.prefix, w.text, args[i+1].text)
			i++
		default:
			a.strict("", args[i:])
			return
		}
	}
	a.out.add(program, a.title())
}

func (a *argv) started(r runner, words []word) {
	if !words[0].plain() {
		a.out.demandExact("runs a program that is not known before it runs")
		return
	}
	if r.strict {
		a.strict("", words)
		return
	}
	if r.name {
		a.out.add(program, a.title(words[0].text))
		return
	}
	a.read(words)
}
