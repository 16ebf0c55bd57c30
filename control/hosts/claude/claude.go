// Package claude knows where Claude Code has its servers and hooks: three scopes of
// servers, of which one of each name is in force, the user's answers whether a
// project's servers may start, and what the machine's administrator allows. A wrapped
// server goes to the local scope, which beats the other two and is the user's alone,
// so that the team's .mcp.json is never touched. The package writes nothing.
package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bir-run/bir/control/hosts"
	"github.com/bir-run/bir/control/hosts/files"
	"github.com/bir-run/bir/control/hosts/jsonedit"
	"github.com/bir-run/bir/control/hosts/shape"
)

// Name is the word for the client.
const Name = "claude-code"

// Shape is how it writes a server down.
var Shape = shape.Shape{
	Servers: []string{"mcpServers"},
	Kind:    "type", Local: []string{"stdio"},
	Remote: map[string]string{"http": "http", "streamable-http": "http", "sse": "sse"},
	URLs:   []shape.URL{{Key: "url", Transport: "http"}}, Headers: "headers", Env: "env",
	Own: []string{"oauth", "headersHelper"},
}

// Host is the client.
type Host struct {
	// InPlace are the scopes whose servers are wrapped where they stand: project, in
	// .mcp.json, or user, for every project.
	InPlace []string
}

// Name is the word for the client.
func (Host) Name() string { return Name }

// Config is the client's own file, with the user's and the local servers.
func Config(p hosts.Places) string {
	if dir := p.Lookup("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(p.Home, ".claude.json")
}

// SettingsFile is the file of settings of a scope: user, project or local.
func SettingsFile(p hosts.Places, scope string) string {
	switch dir := p.Lookup("CLAUDE_CONFIG_DIR"); {
	case scope == "user" && dir != "":
		return filepath.Join(dir, "settings.json")
	case scope == "user":
		return filepath.Join(p.Home, ".claude", "settings.json")
	case scope == "project":
		return filepath.Join(p.Root, ".claude", "settings.json")
	}
	return filepath.Join(p.Root, ".claude", "settings.local.json")
}

// Servers are the servers that the client would start in the project.
func (h Host) Servers(p hosts.Places) ([]hosts.Server, error) {
	own, err := readOwn(p)
	if err != nil {
		return nil, err
	}
	policy := readPolicy(p)
	answers := readAnswers(p, own)
	local, err := hosts.Entries(own.file, hosts.JSON, Shape, own.local())
	if err != nil {
		return nil, err
	}
	user, err := hosts.Entries(own.file, hosts.JSON, Shape, Shape.Servers)
	if err != nil {
		return nil, err
	}
	project, err := projectServers(p)
	if err != nil {
		return nil, err
	}
	scoped(local, "local")
	scoped(project, "project")
	scoped(user, "user")
	project = slices.DeleteFunc(project, func(s hosts.Server) bool { // a rejected one lets the user's own through
		return answers.rejects(s.Name) && slices.ContainsFunc(user, named(s.Name))
	})
	all := merge(local, project, user)
	for i := range all {
		judge(&all[i], own, policy, answers)
	}
	for i := range all {
		if err := h.place(&all[i], p, own, slices.Concat(project, user)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func scoped(servers []hosts.Server, scope string) {
	for i := range servers {
		servers[i].Scope = scope
	}
}

func named(name string) func(hosts.Server) bool {
	return func(s hosts.Server) bool { return s.Name == name }
}

// merge takes the first of each name.
func merge(scopes ...[]hosts.Server) (all []hosts.Server) {
	for _, servers := range scopes {
		for _, s := range servers {
			if !slices.ContainsFunc(all, named(s.Name)) {
				all = append(all, s)
			}
		}
	}
	return all
}

// projectServers are those of .mcp.json: in the working folder, and in those above it
// as far as the repository goes.
func projectServers(p hosts.Places) ([]hosts.Server, error) {
	var scopes [][]hosts.Server
	for _, dir := range foldersOf(p) {
		servers, err := hosts.Entries(filepath.Join(dir, ".mcp.json"), hosts.JSON, Shape, Shape.Servers)
		if err != nil {
			return nil, err
		}
		scopes = append(scopes, servers)
	}
	return merge(scopes...), nil
}

// foldersOf are the working folder and those above it up to the root. A linked
// worktree lies elsewhere: its own top is where its repository's mark is.
func foldersOf(p hosts.Places) []string {
	dirs := []string{p.Dir}
	for dir := p.Dir; dir != p.Root && !hasGit(dir); {
		up := filepath.Dir(dir)
		if up == dir {
			return []string{p.Dir}
		}
		dirs = append(dirs, up)
		dir = up
	}
	return dirs
}

func hasGit(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// own is the client's own file.
type own struct {
	file string
	key  string // of the project in it
	doc  *jsonedit.Doc
}

func readOwn(p hosts.Places) (own, error) {
	o := own{file: Config(p), key: keyOf(p.Root, p.OS)}
	f, err := files.Read(o.file)
	if err != nil {
		return o, &hosts.Error{File: o.file, Err: err}
	}
	if !f.Exists {
		return o, nil
	}
	if o.doc, err = jsonedit.Parse(f.Text); err != nil {
		return o, &hosts.Error{File: o.file, Err: err}
	}
	projects, _ := o.doc.Find("projects")
	for key := range projects.Members() {
		if keyOf(key, p.OS) == o.key { // spelled as the client once did
			o.key = key
			break
		}
	}
	return o, nil
}

// keyOf is how the client spells a project's root: with slashes on every system, and
// it has spelled drives with either case.
func keyOf(root, system string) string {
	if system != "windows" {
		return root
	}
	key := strings.ReplaceAll(root, `\`, "/")
	if len(key) > 1 && key[1] == ':' {
		key = strings.ToUpper(key[:1]) + key[1:]
	}
	return key
}

// local is the path of the project's local servers.
func (o own) local() []string { return []string{"projects", o.key, "mcpServers"} }

// project decodes what the file has of the project under a key.
func (o own) project(key string, into any) {
	if o.doc == nil {
		return
	}
	if n, ok := o.doc.Find("projects", o.key, key); ok {
		_ = n.Decode(into) // what is not in its usual form says nothing
	}
}

// LocalEntry is the path of a server's entry in the project's local scope.
func LocalEntry(p hosts.Places, name string) []string {
	o, err := readOwn(p)
	if err != nil { // whoever writes there finds it, too
		o.key = keyOf(p.Root, p.OS)
	}
	return append(o.local(), name)
}
