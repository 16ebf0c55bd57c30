package examples

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bir-run/bir/sandbox/guards"
	"github.com/bir-run/bir/sandbox/guardsdk"
	"github.com/bir-run/bir/sandbox/internal/rawjson"
)

// placeholder stands for the guard's name in the examples' files and file names.
const placeholder = "NAME"

// Languages are those that New knows.
func Languages() []string { return []string{"go", "c", "assemblyscript"} }

var goodName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,49}$`)

// New gives the files of a folder in which a guard of that name is written, by path:
// the example of the language under the new name. A folder for Go brings the SDK
// along, so that it builds without access to bir's module.
func New(lang, name string) (map[string][]byte, error) {
	if !slices.Contains(Languages(), lang) {
		return nil, fmt.Errorf("no language %q; there are %s", lang, strings.Join(Languages(), ", "))
	}
	if !goodName.MatchString(name) {
		return nil, fmt.Errorf("%q is no name for a guard; use lower-case letters, digits and -, at most 50, and a letter first", name)
	}
	if _, taken := guards.Find(name); taken {
		return nil, fmt.Errorf("a built-in guard is called %s; take another name", name)
	}
	tree := map[string][]byte{}
	if err := addFiles(tree, "", files, lang); err != nil {
		return nil, err
	}
	named := map[string][]byte{}
	for file, data := range tree {
		named[strings.ReplaceAll(file, placeholder, name)] = bytes.ReplaceAll(data, []byte(placeholder), []byte(name))
	}
	if lang == "go" {
		return named, addSDK(named, name)
	}
	return named, nil
}

func addFiles(tree map[string][]byte, to string, from fs.FS, dir string) error {
	sub, err := fs.Sub(from, dir)
	if err != nil {
		return err
	}
	return fs.WalkDir(sub, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		tree[path.Join(to, file)], err = fs.ReadFile(sub, file)
		return err
	})
}

// addSDK puts the SDK where go.mod looks for it. Whoever can reach bir's module
// removes that line and the folder.
func addSDK(tree map[string][]byte, name string) error {
	const module, version = "github.com/bir-run/bir", "go 1.24"
	tree["go.mod"] = fmt.Appendf(nil, "module %s\n\n%s\n\nrequire %s v0.0.0\n\nreplace %s => ./bir\n", name, version, module, module)
	tree["bir/go.mod"] = fmt.Appendf(nil, "module %s\n\n%s\n", module, version)
	if err := addFiles(tree, "bir/sandbox/guardsdk", guardsdk.Source(), "."); err != nil {
		return err
	}
	return addFiles(tree, "bir/sandbox/internal/rawjson", rawjson.Source(), ".")
}
