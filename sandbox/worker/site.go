package worker

import (
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
)

// site is where an error of the engine was thrown, as far as its stack tells. What
// V8 shows of the code there is read from the source again: no tree is kept.
type site struct {
	message string
	native  string // the builtin that threw, if one did
	tree    *ast.Program
	at      file.Idx
}

// frame is a line of goja's stack.
var frame = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n\tat (?:[^\n]*\()?` + sourceName + `:(\d+):(\d+)\(`)
})

func (ev *evaluation) site(object *goja.Object, message string) *site {
	s := &site{message: message}
	stack, ok := object.Get("stack").(goja.String)
	if !ok {
		return s
	}
	text := stack.String()
	m := frame().FindStringSubmatchIndex(text)
	if m == nil {
		return s
	}
	if _, builtin, ok := cutLast(text[:m[0]], "\n\tat "); ok {
		s.native, _, _ = strings.Cut(builtin, " ")
	}
	line, _ := strconv.Atoi(text[m[2]:m[3]])
	column, _ := strconv.Atoi(text[m[4]:m[5]])
	s.tree = ev.sourceTree()
	if s.tree == nil {
		return s
	}
	rest, offset := ev.program.wrapped, 0
	for ; line > 1; line-- {
		end := strings.IndexByte(rest[offset:], '\n')
		if end < 0 {
			return s
		}
		offset += end + 1
	}
	s.at = file.Idx(s.tree.File.Base() + offset + column - 1)
	return s
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// sourceTree parses the body once more, the first time an error asks. A lowered
// body has positions that no tree of its own text has.
func (ev *evaluation) sourceTree() *ast.Program {
	if ev.tree == nil && !ev.program.author.mapped && !ev.treeless {
		tree, err := parser.ParseFile(nil, sourceName, ev.program.wrapped, 0, parser.WithDisableSourceMaps)
		if ev.treeless = err != nil; err == nil {
			ev.tree = tree
		}
	}
	return ev.tree
}

// seek visits the nodes of the tree until see is content.
func (s *site) seek(see func(node any) bool) {
	if s.tree == nil {
		return
	}
	find(reflect.ValueOf(s.tree.Body), func(node any) (file.Idx, bool) {
		if see(node) {
			return 1, true
		}
		return 0, false
	})
}

const unnamed = "(intermediate value)"

// called is the function of the call at the site.
func (s *site) called() string {
	found := unnamed
	s.seek(func(node any) bool {
		c, ok := node.(*ast.CallExpression)
		if ok && c.LeftParenthesis == s.at {
			found = shown(c.Callee)
			return true
		}
		if t, ok := node.(*ast.TemplateLiteral); ok && t.Tag != nil && t.Tag.Idx0() <= s.at && s.at <= t.OpenQuote {
			found = shown(t.Tag)
			return true
		}
		return false
	})
	if member, ok := strings.CutPrefix(s.message, "Object has no member '"); ok && found == unnamed {
		return unnamed + "." + strings.TrimSuffix(member, "'")
	}
	return found
}

func (s *site) constructed() string {
	found := unnamed
	s.seek(func(node any) bool {
		n, ok := node.(*ast.NewExpression)
		if ok && n.New == s.at {
			found = shown(n.Callee)
		}
		return ok && n.New == s.at
	})
	return found
}

// notObject words what goja says alike of calls, of new, and of builtins' arguments.
func (s *site) notObject() string {
	value := strings.TrimPrefix(s.message, "Value is not an object: ")
	switch {
	case takesCallback[s.native]:
		return value + " is not a function"
	case s.native == "fromEntries":
		return "Iterator value " + value + " is not an entry object"
	case s.native == "set":
		return "Invalid value used as weak map key"
	case s.native == "add":
		return "Invalid value used in weak set"
	case s.native != "":
		return ""
	}
	if name := s.constructed(); name == "Promise" {
		return "Promise resolver " + value + " is not a function"
	} else if name != unnamed {
		return name + " is not a constructor"
	}
	if name := s.called(); name != unnamed {
		return name + " is not a function"
	}
	return ""
}

// takesCallback are the builtins that call what they are given.
var takesCallback = map[string]bool{
	"map": true, "forEach": true, "filter": true, "some": true, "every": true, "find": true, "findIndex": true,
	"findLast": true, "findLastIndex": true, "flatMap": true, "reduce": true, "reduceRight": true, "sort": true, "from": true,
}

// nothing is what a property was read of. The engine does not tell null from
// undefined; the source does where it says null itself.
func (s *site) nothing() string {
	found := "undefined"
	s.seek(func(node any) bool {
		left, at := ast.Expression(nil), file.Idx(0)
		switch n := node.(type) {
		case *ast.DotExpression:
			left, at = n.Left, n.Identifier.Idx
		case *ast.BracketExpression:
			left, at = n.Left, n.LeftBracket
		}
		if _, isNull := left.(*ast.NullLiteral); isNull && left.Idx0() <= s.at && s.at <= at+1 {
			found = "null"
			return true
		}
		return false
	})
	return found
}

// written words a write to undefined or null.
func (s *site) written() string {
	if s.native != "" {
		return ""
	}
	found := ""
	s.seek(func(node any) bool {
		a, ok := node.(*ast.AssignExpression)
		if !ok || a.Left.Idx0() > s.at || s.at > a.Right.Idx0() {
			return false
		}
		switch left := a.Left.(type) {
		case *ast.DotExpression:
			of := "undefined"
			if _, isNull := left.Left.(*ast.NullLiteral); isNull {
				of = "null"
			}
			found = "Cannot set properties of " + of + " (setting '" + left.Identifier.Name.String() + "')"
		case *ast.BracketExpression:
			found = "Cannot set properties of undefined"
		}
		return false // an assignment inside may be the one
	})
	if found == "" && s.tree != nil {
		if name := s.iterated(); name != unnamed {
			return name + " is not iterable"
		}
	}
	return found
}

// iterated is what a loop, a spread or a pattern goes over.
func (s *site) iterated() string {
	found := unnamed
	take := func(e ast.Expression) bool {
		if e == nil || e.Idx0() != s.at {
			return false
		}
		found = shown(e)
		return true
	}
	s.seek(func(node any) bool {
		switch n := node.(type) {
		case *ast.ForOfStatement:
			return take(n.Source)
		case *ast.SpreadElement:
			return take(n.Expression)
		case *ast.Binding:
			_, pattern := n.Target.(*ast.ArrayPattern)
			return pattern && n.Initializer != nil && take(n.Initializer)
		}
		return false
	})
	return found
}

// destructured words a pattern that met undefined or null.
func (s *site) destructured() string {
	if s.native == "fromEntries" {
		return "undefined is not iterable"
	}
	found := ""
	s.seek(func(node any) bool {
		b, ok := node.(*ast.Binding)
		if !ok || b.Initializer == nil {
			return false
		}
		pattern, ok := b.Target.(*ast.ObjectPattern)
		if !ok || s.at < pattern.LeftBrace || s.at > b.Initializer.Idx1() || len(pattern.Properties) == 0 {
			return false
		}
		value := "undefined"
		if _, isNull := b.Initializer.(*ast.NullLiteral); isNull {
			value = "null"
		}
		if name := propertyName(pattern.Properties[0]); name != "" {
			found = "Cannot destructure property '" + name + "' of '" + shown(b.Initializer) + "' as it is " + value + "."
		}
		return true
	})
	return found
}

func propertyName(p ast.Property) string {
	switch p := p.(type) {
	case *ast.PropertyShort:
		return p.Name.Name.String()
	case *ast.PropertyKeyed:
		if key, ok := p.Key.(*ast.StringLiteral); ok {
			return key.Value.String()
		}
	}
	return ""
}

// name is the identifier at the site.
func (s *site) name() string {
	found := "a variable"
	s.seek(func(node any) bool {
		id, ok := node.(*ast.Identifier)
		if ok && id.Idx == s.at {
			found = id.Name.String()
		}
		return ok && id.Idx == s.at
	})
	return found
}

// shown is code as V8 shows it in a message.
func shown(e ast.Expression) string {
	switch e := e.(type) {
	case *ast.Identifier:
		return e.Name.String()
	case *ast.ThisExpression:
		return "this"
	case *ast.NullLiteral:
		return "null"
	case *ast.NumberLiteral:
		return e.Literal
	case *ast.StringLiteral:
		return `"` + e.Value.String() + `"`
	case *ast.DotExpression:
		return shown(e.Left) + "." + e.Identifier.Name.String()
	case *ast.BracketExpression:
		if key, ok := e.Member.(*ast.StringLiteral); ok {
			return shown(e.Left) + "." + key.Value.String()
		}
		return shown(e.Left) + "[" + shown(e.Member) + "]"
	case *ast.CallExpression:
		return shown(e.Callee) + "(...)"
	case *ast.OptionalChain:
		return shown(e.Expression)
	case *ast.Optional:
		return shown(e.Expression)
	case *ast.ObjectLiteral:
		if len(e.Value) == 0 {
			return "{}"
		}
	case *ast.ArrayLiteral:
		var parts []string
		for _, part := range e.Value {
			parts = append(parts, shown(part))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return unnamed
}
