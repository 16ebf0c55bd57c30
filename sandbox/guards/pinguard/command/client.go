package command

import (
	"strings"

	"github.com/bir-run/bir/sandbox/guards/pinguard/statement"
)

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
	for _, s := range reading.Statements {
		a.out.add(effect, "statement: "+s.Verbs)
		a.out.add(fixed, s.Shape)
	}
}
