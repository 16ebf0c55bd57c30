package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/bir-run/bir/cmd/bir/logic/report"
	"github.com/bir-run/bir/cmd/internal/cli"
)

// Config is what a conversation is held with.
type Config struct {
	Session  *Session
	Lines    Lines
	Out      io.Writer
	JSON     bool              // one object a line, and no word for people
	Welcome  string            // said first
	Commands map[string]string // what .args, .body and the like show
}

const (
	prompt       = "> "
	promptMore   = "… "
	commandsHelp = `.help    this list
.args    the values that stand ready
.body    the bodies of the step
.defs    what was defined here
.reset   forget it
.quit    end (as Ctrl-D and Ctrl-C do)

Anything else is JavaScript: an expression, statements with a return as in a body, or a
definition such as  let x = params.region  that later lines see. Every line is evaluated
afresh: a change inside a value, such as list.push(1), is gone with the next one.
`
)

// Run evaluates lines until they end or ctx does. It says whether every one gave a
// value.
func Run(ctx context.Context, cfg Config) (bool, error) {
	defer cfg.Lines.Close()
	fmt.Fprint(cfg.Out, cfg.Welcome)
	good := true
	for {
		input, err := next(ctx, cfg.Lines)
		switch {
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return good, nil
		case err != nil:
			return false, fmt.Errorf("read a line: %w", err)
		case strings.HasPrefix(input, "."):
			if cfg.command(strings.TrimSpace(input)) {
				return good, nil
			}
			continue
		case strings.TrimSpace(input) == "":
			continue
		}
		answer, err := cfg.Session.Eval(ctx, input)
		if ctx.Err() != nil {
			return good, nil
		}
		if err != nil {
			return false, err
		}
		good = good && answer.Error == nil
		if err := cfg.print(answer); err != nil {
			return false, err
		}
	}
}

// next reads an input of one line or several.
func next(ctx context.Context, lines Lines) (string, error) {
	var input strings.Builder
	with := prompt
	for {
		line, err := read(ctx, lines, with)
		if errors.Is(err, io.EOF) && input.Len() > 0 && !Typed(lines) {
			return input.String(), nil // the evaluator says what is missing
		}
		if err != nil {
			return "", err
		}
		input.WriteString(line)
		if strings.HasPrefix(input.String(), ".") || complete(input.String()) {
			return input.String(), nil
		}
		input.WriteByte('\n')
		with = promptMore
	}
}

// read waits for a line or for the end of ctx.
func read(ctx context.Context, lines Lines, with string) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() { // ends with the line; when ctx ends first, with the process
		line, err := lines.Read(with)
		done <- result{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// command obeys a line that begins with a dot, and says whether it is the last.
func (cfg Config) command(name string) bool {
	switch name {
	case ".quit", ".exit":
		return true
	case ".help":
		fmt.Fprint(cfg.Out, commandsHelp)
	case ".reset":
		cfg.Session.Forget()
	case ".defs":
		for _, text := range cfg.Session.Defined() {
			fmt.Fprintln(cfg.Out, text)
		}
	default:
		text, ok := cfg.Commands[name]
		if !ok {
			text = fmt.Sprintf("no command %s: .help lists them\n", name)
		}
		fmt.Fprint(cfg.Out, text)
	}
	return false
}

func (cfg Config) print(a Answer) error {
	if cfg.JSON {
		return cli.JSONLine(cfg.Out, a)
	}
	for _, line := range a.Console {
		fmt.Fprintln(cfg.Out, report.Visible(line))
	}
	switch {
	case a.Error != nil:
		fmt.Fprintf(cfg.Out, "%s %s\n", cli.Bad(string(a.Error.Type)+":"), report.Visible(a.Error.Error()))
	case a.Value != nil && a.Defined != "":
		fmt.Fprintf(cfg.Out, "%s = %s\n", a.Defined, report.Pretty(a.Value))
	case a.Value != nil:
		fmt.Fprintln(cfg.Out, report.Pretty(a.Value))
	case a.Text != "":
		fmt.Fprintln(cfg.Out, report.Visible(a.Text))
	}
	return nil
}
