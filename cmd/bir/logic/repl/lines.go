package repl

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Lines is where input comes from.
type Lines interface {
	// Read gives the next line; io.EOF is its end.
	Read(prompt string) (string, error)
	// Close gives the terminal back.
	Close() error
}

// piped reads lines that nobody types.
type piped struct{ in *bufio.Reader }

func (p piped) Read(string) (string, error) {
	line, err := p.in.ReadString('\n')
	if errors.Is(err, io.EOF) && line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

func (piped) Close() error { return nil }

// terminal reads lines that are edited. It is raw only while a line is typed, so
// that Ctrl-C ends an evaluation as it ends any command.
type terminal struct {
	file   *os.File
	edit   *term.Terminal
	before *term.State // nil while the terminal is as we found it
}

// Open reads from in: with an editor where it is a terminal, else line by line.
// What is typed is added to the history; complete offers the rest of a word.
func Open(in io.Reader, out io.Writer, history term.History, complete func(string) string) Lines {
	file, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return piped{bufio.NewReader(in)}
	}
	edit := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, out}, "")
	edit.History = history
	edit.AutoCompleteCallback = func(line string, at int, key rune) (string, int, bool) {
		if key != '\t' {
			return "", 0, false
		}
		more := complete(line[:at])
		return line[:at] + more + line[at:], at + len(more), true
	}
	return &terminal{file: file, edit: edit}
}

func (t *terminal) Read(prompt string) (string, error) {
	before, err := term.MakeRaw(int(t.file.Fd()))
	if err != nil {
		return "", err
	}
	t.before = before
	if width, height, err := term.GetSize(int(t.file.Fd())); err == nil && width > 0 {
		_ = t.edit.SetSize(width, height) // a wrong width only wraps elsewhere
	}
	t.edit.SetPrompt(prompt)
	line, err := t.edit.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	return line, errors.Join(err, t.Close())
}

func (t *terminal) Close() error {
	if t.before == nil {
		return nil
	}
	err := term.Restore(int(t.file.Fd()), t.before)
	t.before = nil
	return err
}

// Typed tells lines that a person types.
func Typed(lines Lines) bool {
	_, ok := lines.(*terminal)
	return ok
}
