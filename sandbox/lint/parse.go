package lint

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// origin knows where a place of the parsed text stands in the author's.
type origin struct {
	source string
	prefix int   // bytes of the wrapper before it
	starts []int // of its lines
}

func newOrigin(source string, prefix int) origin {
	o := origin{source: source, prefix: prefix, starts: []int{0}}
	for i, r := range source {
		ends := r == '\n' || r == '\u2028' || r == '\u2029' || r == '\r' && !strings.HasPrefix(source[i:], "\r\n")
		if ends {
			o.starts = append(o.starts, i+utf8.RuneLen(r))
		}
	}
	return o
}

// place counts lines and columns from 1, columns as editors do.
func (o origin) place(at file.Idx) (line, column int) {
	offset := max(0, min(int(at)-1-o.prefix, len(o.source))) // goja counts from 1
	line, exact := slices.BinarySearch(o.starts, offset)
	if exact {
		line++
	}
	for _, r := range o.source[o.starts[line-1]:offset] {
		column += max(1, utf16.RuneLen(r))
	}
	return line, column + 1
}

// parse reads the body as the function that it is the inside of.
func (c *checker) parse() error {
	source := c.subject.Body.Source
	prefix := "(function (" + strings.Join(c.subject.parameters(), ", ") + ") {"
	c.origin = newOrigin(source, len(prefix))
	tree, err := parse(prefix + source + "\n})")
	if err != nil {
		if tree, err = parse(prefix + standIn(source) + "\n})"); err != nil {
			return err
		}
	}
	if len(tree.Body) == 1 {
		if statement, ok := tree.Body[0].(*ast.ExpressionStatement); ok {
			c.function, _ = statement.Expression.(*ast.FunctionLiteral)
		}
	}
	if c.function == nil {
		return errors.New("it is more than the inside of one function")
	}
	return nil
}

// parse reads a text. The parser panics on some that are wrong: for them that is a
// way to say so.
func parse(text string) (tree *ast.Program, err error) {
	defer func() {
		if x := recover(); x != nil {
			tree, err = nil, errors.New("the parser gave up")
		}
	}()
	tree, err = parser.ParseFile(nil, "body", text, 0, parser.WithDisableSourceMaps)
	var list parser.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		return nil, errors.New(list[0].Message)
	}
	return tree, err
}

// unknown is the syntax that the sandbox lowers because goja's parser lacks it, and
// what has as many characters and the same names in it.
var unknown = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\bfor(\s+)await\b`), "for$1     "},
	{regexp.MustCompile(`\bawait(\s+)using(\s+[\p{L}_$])`), "     ${1}const$2"},
	{regexp.MustCompile(`\busing(\s+[\p{L}_$][\p{L}\p{N}_$]*\s*=)`), "const$1"},
	{regexp.MustCompile(`\basync(\s*)\*`), "async$1 "},
	{regexp.MustCompile(`\basync(\s+)function(\s*)\*`), "async${1}function$2 "},
}

// yields are an async generator's; without its star it may only await.
var yields = regexp.MustCompile(`\byield(\s*)(\*?)`)

// standIn replaces syntax that the parser does not know, every character by one, so
// that places stay what they are.
func standIn(source string) string {
	text := source
	for i, u := range unknown {
		replaced := u.pattern.ReplaceAllString(text, u.with)
		if i > 2 && replaced != text {
			replaced = yields.ReplaceAllStringFunc(replaced, func(yield string) string {
				return strings.NewReplacer("yield", "await", "*", " ").Replace(yield)
			})
		}
		text = replaced
	}
	return text
}
