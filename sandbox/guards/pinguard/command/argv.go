package command

import (
	"path"
	"slices"
	"strings"
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
			a.out.add(program, a.title())
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
			a.prefix = append(a.prefix, textOf(words[i:end]))
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
	inner := min(i+wrap.operands, len(words))
	if slices.ContainsFunc(words[:inner], func(w word) bool { return w.dynamic }) {
		a.out.demandExact("gives " + name + " words that are not known before it runs")
	}
	return words[inner:]
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
	case a.runs("xargs") && !onlyReads(name):
		a.out.demandExact("gives " + name + " what another command writes")
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
	if a.runs("xargs") || a.piped && name != "tee" { // tee only copies it
		a.out.demandExact("gives " + name + " what another command writes")
		return
	}
	a.out.add(program, a.title(name))
	a.out.add(fixed, textOf(args))
}

// title is the name of what is done, with what runs it. A word may hold a space, so
// words are not joined by one.
func (a *argv) title(words ...string) string {
	if len(a.prefix) == 0 {
		return strings.Join(words, separator)
	}
	return strings.Join(slices.Concat(a.prefix, words), separator)
}

const separator = "\x00"

func textOf(words []word) string {
	var all []string
	for _, w := range words {
		all = append(all, w.text)
	}
	return strings.Join(all, separator)
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
	a.runScript(script.text)
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
	a.runScript(strings.Join(text, " "))
}

func (a *argv) runScript(text string) {
	if len(a.prefix) > 0 {
		a.out.add(program, a.title())
	}
	a.script(text)
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
			a.out.add(program, a.title(title...))
			a.out.add(fixed, textOf(args[i:]))
			return
		case spec.module != "" && w.text == spec.module && i+1 < len(args):
			a.prefix = append(a.prefix, append(title, w.text)...)
			a.read(args[i+1:])
			return
		case w.isOption():
			title = append(title, w.text)
		case spec.codeFirst && i == 0 && !slices.ContainsFunc(args, word.isOption):
			a.out.add(program, a.title(name))
			a.out.add(fixed, w.text)
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

// programName is the program that a word starts. Only the folders of the system
// hold the same program as the bare name.
func programName(text string) string {
	dir, base := path.Split(text)
	switch dir {
	case "", "/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/opt/homebrew/bin/":
	default:
		return pathOf(text)
	}
	if same, ok := sameProgram[base]; ok {
		return same
	}
	if rest, ok := strings.CutPrefix(base, "python3."); ok && strings.Trim(rest, "0123456789") == "" {
		return "python"
	}
	return base
}

// pathOf cleans a path and keeps it one: ./git is not git.
func pathOf(text string) string {
	clean := path.Clean(text)
	if !strings.Contains(clean, "/") {
		return "./" + clean
	}
	return clean
}
