package command

import (
	"path"
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/guards/pinguard/statement"
)

// argv reads one command, from its program to its last word, into parts.
type argv struct {
	out    *outline
	script func(string) // reads a script that stands in an argument
	piped  bool         // it reads what another command writes
	prefix []string     // what runs the program: sudo -u x, npx
	last   string       // the program that was found in the end
}

// read goes through the programs that only run another one, down to the one that
// does the work.
func (a *argv) read(words []word) {
	for {
		if len(words) == 0 {
			a.out.add(program, strings.Join(a.prefix, " "))
			return
		}
		if !words[0].plain() {
			a.out.demandExact("runs a program that is not known before it runs")
			return
		}
		name := programName(words[0].text)
		wrap, ok := wrappers[name]
		if !ok || name == "command" && len(words) > 1 && words[1].isOption() {
			a.program(name, words[1:])
			return
		}
		words = a.unwrap(name, wrap, words[1:])
	}
}

// unwrap gives the words of the inner command. What of the wrapper's own words may
// change what is done stays with the program's name.
func (a *argv) unwrap(name string, wrap wrapper, words []word) []word {
	if wrap.kept {
		a.prefix = append(a.prefix, name)
	}
	i := 0
	for i < len(words) && words[i].isOption() && words[i].text != "--" {
		end := i + 1
		option, _, attached := strings.Cut(words[i].text, "=")
		if !attached && hasOption(wrap.valued, option) {
			end = min(i+2, len(words))
		}
		if !hasOption(wrap.ignored, option) {
			a.prefix = append(a.prefix, strings.Split(textOf(words[i:end]), "\x00")...)
		}
		i = end
	}
	if i < len(words) && words[i].text == "--" {
		i++
	}
	for wrap.assigns && i < len(words) && strings.Contains(words[i].text, "=") {
		a.out.add(variables, words[i].text)
		i++
	}
	return words[min(i+wrap.operands, len(words)):]
}

// hasOption looks a word up in a list of words. It takes nothing apart: a module
// pays for every turn of a loop.
func hasOption(options, name string) bool {
	for at := 0; name != ""; {
		i := strings.Index(options[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if (start == 0 || options[start-1] == ' ') && (end == len(options) || options[end] == ' ') {
			return true
		}
		at = start + 1
	}
	return false
}

// program reads the words after the program that does the work.
func (a *argv) program(name string, args []word) {
	a.last = name
	switch {
	case shells[name]:
		a.shell(name, args)
	case name == "eval":
		a.eval(args)
	case interpreters[name].code != "":
		a.interpreter(name, args)
	case alwaysExact[name] || isDangerousName(name):
		a.strict(name, args)
	default:
		a.head(name, args)
	}
}

// runs tells whether the wrapper is in the prefix.
func (a *argv) runs(wrapper string) bool { return slices.Contains(a.prefix, wrapper) }

// strict demands the same words, and the same input where the words come from it.
func (a *argv) strict(name string, args []word) {
	if a.runs("xargs") {
		a.out.demandExact("runs " + name + " on words from its input")
		return
	}
	a.out.add(program, a.title(name))
	a.out.add(fixed, textOf(args))
}

func (a *argv) title(words ...string) string {
	return strings.Join(slices.Concat(a.prefix, words), " ")
}

func textOf(words []word) string {
	var all []string
	for _, w := range words {
		all = append(all, w.text)
	}
	return strings.Join(all, "\x00")
}

// shell takes bash -c '...' for the script, and bash FILE for the file.
func (a *argv) shell(name string, args []word) {
	for i, w := range args {
		if !w.plain() {
			break
		}
		if !w.isOption() {
			a.out.add(program, a.title(name, path.Clean(w.text)))
			a.out.add(fixed, textOf(args[i+1:]))
			return
		}
		if takesScript(w.text) && i+1 < len(args) {
			a.inline(args[i+1], args[i+2:])
			return
		}
	}
	a.out.demandExact("gives " + name + " a script that does not stand in the command")
}

// takesScript finds -c, also among other letters.
func takesScript(option string) bool {
	return !strings.HasPrefix(option, "--") && strings.Contains(option, "c")
}

func (a *argv) inline(script word, args []word) {
	if script.dynamic || a.runs("xargs") {
		a.out.demandExact("runs a script that is not known before it runs")
		return
	}
	if len(a.prefix) > 0 {
		a.out.add(program, a.title())
	}
	a.script(script.text)
	if len(args) > 0 {
		a.out.add(fixed, textOf(args))
	}
}

func (a *argv) eval(args []word) {
	var text []string
	for _, w := range args {
		if !w.plain() {
			a.out.demandExact("evaluates what is not known before it runs")
			return
		}
		text = append(text, w.text)
	}
	a.script(strings.Join(text, " "))
}

// interpreter compares code to the letter, and takes a module or a script for the
// program.
func (a *argv) interpreter(name string, args []word) {
	spec := interpreters[name]
	title := []string{name}
	for i := 0; i < len(args); i++ {
		w := args[i]
		if !w.plain() {
			break
		}
		option, _, _ := strings.Cut(w.text, "=")
		switch {
		case hasOption(spec.code, option) || attachedCode(w.text, spec.code):
			a.out.add(program, a.title(append(title, w.text)...))
			a.out.add(fixed, textOf(args[i+1:]))
			return
		case spec.module != "" && w.text == spec.module && i+1 < len(args):
			a.prefix = append(a.prefix, append(title, w.text)...)
			a.read(args[i+1:])
			return
		case w.isOption():
			title = append(title, w.text)
		case spec.codeFirst && i == 0 && !slices.ContainsFunc(args, word.isOption):
			a.out.add(program, a.title(name, w.text))
			return
		case spec.codeFirst:
			a.strict(name, args)
			return
		case w.text == "-":
			i = len(args)
		default:
			a.prefix = append(a.prefix, title...)
			if len(title) > 1 { // an option may have taken this word, and the script is a later one
				a.strict(path.Clean(w.text), args[i+1:])
				return
			}
			a.head(path.Clean(w.text), args[i+1:])
			return
		}
	}
	a.out.demandExact("gives " + name + " code that does not stand in the command")
}

// attachedCode finds -e'code' and -ne 'code'.
func attachedCode(option, code string) bool {
	if len(option) < 3 || option[0] != '-' || option[1] == '-' {
		return false
	}
	for _, c := range strings.Fields(code) {
		if len(c) == 2 && strings.Contains(option, c[1:]) {
			return true
		}
	}
	return false
}

// head compares the program with its subcommand, the options that change what it
// does, and the hosts it is sent to.
func (a *argv) head(name string, args []word) {
	spec, known := programs[name]
	if !known {
		spec = unknownProgram(name)
	}
	h := readHeading(name, spec, args)
	if r, run, ok := runnerOf(h.names); ok {
		a.runner(run, r, spec, args)
		return
	}
	verb := strings.Join(h.names, " ")
	switch {
	case h.dynamic:
		a.out.demandExact("has a subcommand that is not known before it runs")
	case spec.strictFor(args) || slices.ContainsFunc(h.names[1:], isDangerousName) && !harmless[verb]:
		a.strict(strings.Join(h.title, " "), h.rest)
	default:
		a.out.add(program, a.title(h.title...))
		if agreeing[verb] {
			a.out.add(operands, textOf(spec.operands(h.rest)))
		}
		a.effects(spec, args)
		a.inside(spec, args)
	}
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
			levels += deeper[strings.Join(h.names, " ")] - 1
		}
	}
	h.rest = args[min(i, len(args)):]
	return h
}

func runnerOf(names []string) (r runner, run []string, ok bool) {
	for n := min(len(names), 2); n > 0; n-- {
		if r, ok = runners[strings.Join(names[:n], " ")]; ok {
			return r, names[:n], true
		}
	}
	return r, nil, false
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

// inside compares the statements of a database client.
func (a *argv) inside(spec spec, args []word) {
	if spec.sql == "" && !spec.sqlOperand {
		return
	}
	if a.piped {
		a.out.demandExact("sends statements from its input to a database")
		return
	}
	for i, w := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1].text
		}
		if text, ok := spec.statementIn(w.text, next); ok {
			a.statement(text)
		}
	}
	if own := spec.operands(args); spec.sqlOperand && len(own) > 1 {
		a.statement(own[1].text)
	}
}

// statementIn finds -c 'statement', -c'statement' and --command=statement.
func (s spec) statementIn(option, next string) (text string, ok bool) {
	for _, o := range strings.Fields(s.sql) {
		name, attached, isAttached := strings.Cut(option, "=")
		switch {
		case name == o && isAttached:
			return attached, true
		case option == o:
			return next, true
		case len(o) == 2 && len(option) > 1 && option[0] == '-' && option[1] != '-':
			if i := strings.Index(s.letters(option), o[1:]); i >= 0 {
				if rest := option[i+2:]; rest != "" {
					return rest, true
				}
				return next, true
			}
		}
	}
	return "", false
}

// operands are the words that are no option and no option's value.
func (s spec) operands(args []word) (all []word) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case !w.isOption():
			all = append(all, w)
		case hasOption(s.valued, w.text):
			i++
		}
	}
	return all
}

func (a *argv) statement(text string) {
	reading := statement.Read(text)
	if reading.Ambiguous != "" {
		a.out.demandExact("sends a statement that " + reading.Ambiguous)
		return
	}
	a.out.add(effect, "statement: "+strings.Join(reading.Statements, "; "))
}

// programName is the program that a word starts. Only the folders of the system
// hold the same program as the bare name.
func programName(text string) string {
	dir, base := path.Split(text)
	switch dir {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/":
	default:
		return path.Clean(text)
	}
	if same, ok := sameProgram[base]; ok {
		return same
	}
	if rest, ok := strings.CutPrefix(base, "python3."); ok && strings.Trim(rest, "0123456789") == "" {
		return "python"
	}
	return base
}
