// Package servername guesses what a person would call an MCP server, from the command
// that starts it or the URL where it is. It runs and reaches nothing.
package servername

import (
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
)

// launchers are programs that run what their arguments name. The words are their
// subcommands, which name nothing.
var launchers = map[string][]string{
	"npx": nil, "bunx": nil, "uvx": nil, "node": nil, "tsx": nil, "python": nil, "python3": nil,
	"npm": {"exec", "x"}, "pnpm": {"dlx", "exec"}, "yarn": {"dlx"}, "bun": {"run", "x"}, "deno": {"run"},
	"uv": {"run", "tool"}, "pipx": {"run"}, "go": {"run"}, "dotnet": {"run", "exec"}, "java": nil,
}

// valued are flags of launchers that take the next word.
var valued = []string{"-p", "--package", "--from", "--with", "--python", "-c", "--call"}

// FromCommand guesses the name a person would give the server: what the command
// runs, without scope, version, extension and the words that every server has.
func FromCommand(command []string) string {
	program := base(command[0])
	if words, launches := launchers[program]; launches {
		program = launched(command[1:], words, program)
	}
	return plain(program)
}

// FromURL is the part of a server's address that a person would call it by.
func FromURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || net.ParseIP(u.Hostname()) != nil {
		return "server"
	}
	labels := strings.Split(u.Hostname(), ".")
	for len(labels) > 2 && slices.Contains([]string{"www", "api", "mcp"}, strings.ToLower(labels[0])) {
		labels = labels[1:]
	}
	return plain(labels[0])
}

// plain is a name without the words that every server has.
func plain(program string) string {
	name := strings.ToLower(program)
	for _, affix := range []string{"mcp-server-", "mcp_server_", "server-", "mcp-"} {
		name = strings.TrimPrefix(name, affix)
	}
	for _, affix := range []string{"-mcp-server", "_mcp_server", "-mcp", "-server"} {
		name = strings.TrimSuffix(name, affix)
	}
	if name == "" {
		return "server"
	}
	return name
}

// launched finds the word that names what a launcher runs.
func launched(args, subcommands []string, launcher string) string {
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(valued, args[i]):
			i++
		case strings.HasPrefix(args[i], "-"), slices.Contains(subcommands, args[i]):
		default:
			return entry(args[i])
		}
	}
	return launcher
}

// entryNames are files and folders that name nothing: the package above them does.
var entryNames = []string{"index", "main", "cli", "server", "app", "__main__", "dist", "build", "lib", "src", "bin", "out"}

// entry names what a script belongs to: ".../server-memory/dist/index.js" is
// server-memory.
func entry(word string) string {
	word = strings.ReplaceAll(word, `\`, "/")
	for at := word; at != "." && at != "/" && at != ""; at = path.Dir(at) {
		if name := base(at); !slices.Contains(entryNames, name) {
			return name
		}
	}
	return base(word)
}

// base is the last element of a path or a package's name, without version and
// extension.
func base(word string) string {
	name := path.Base(strings.ReplaceAll(word, `\`, "/"))
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		name = name[:at]
	}
	switch ext := path.Ext(name); strings.ToLower(ext) {
	case ".js", ".mjs", ".cjs", ".ts", ".py", ".exe", ".cmd", ".bat", ".jar", ".sh":
		name = strings.TrimSuffix(name, ext)
	}
	return name
}
