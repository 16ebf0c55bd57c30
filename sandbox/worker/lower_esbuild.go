//go:build !wasip1

package worker

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/bir-run/bir/sandbox/wire"
	"github.com/dop251/goja/ast"
	"github.com/evanw/esbuild/pkg/api"
)

// lower rewrites what goja's parser does not know, and parses the result. Its
// errors name the author's lines: esbuild explains a mistake better than the
// refusal that led here.
func (p *program) lower(prefix, wrapped string) (*ast.Program, error) {
	out := api.Transform(wrapped, lowering(api.SourceMapExternal))
	if len(out.Errors) > 0 {
		return nil, p.explain(out.Errors[0])
	}
	if err := p.insideItsFunction(prefix); err != nil {
		return nil, err
	}
	return p.takeLowered(&wire.Lowered{Code: out.Code, Map: out.Map})
}

// insideItsFunction refuses a body that closes its wrapper early, which the
// lowered code no longer shows. The wrapper's end leaves a labelled block, so the
// end stands inside the function's own block or the code does not parse; the
// label comes from the body's hash, so the body cannot contain it.
func (p *program) insideItsFunction(prefix string) error {
	sum := sha256.Sum256([]byte(p.author.source))
	label := "inside_" + hex.EncodeToString(sum[:])
	probe := prefix + label + ":{" + p.author.source + "\nbreak " + label + "}})"
	out := api.Transform(probe, lowering(api.SourceMapNone))
	if len(out.Errors) == 0 {
		return nil
	}
	if strings.Contains(out.Errors[0].Text, label) {
		return &syntaxError{message: leavesFunction}
	}
	return p.explain(out.Errors[0])
}

func lowering(sourceMap api.SourceMap) api.TransformOptions {
	return api.TransformOptions{
		Loader:        api.LoaderJS,
		Target:        api.ES2017,
		Sourcefile:    sourceName,
		Sourcemap:     sourceMap,
		LegalComments: api.LegalCommentsNone,
		// Regular expressions stay as written: goja has most of what esbuild would
		// turn into a constructor call, and refuses the rest with its position.
		Supported: map[string]bool{
			"regexp-dot-all-flag":             true,
			"regexp-lookbehind-assertions":    true,
			"regexp-match-indices":            true,
			"regexp-named-capture-groups":     true,
			"regexp-set-notation":             true,
			"regexp-sticky-and-unicode-flags": true,
			"regexp-unicode-property-escapes": true,
			"dynamic-import":                  true,
		},
	}
}

// explain turns esbuild's message into the author's position.
func (p *program) explain(message api.Message) error {
	err := &syntaxError{message: message.Text}
	if at := message.Location; at != nil {
		if p.author.beyond(at.Line) {
			err.message = "Unexpected end of the body"
		}
		err.line, err.column = p.author.at(at.Line, at.Column+1)
	}
	return err
}
