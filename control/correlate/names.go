package correlate

import (
	"strings"

	"github.com/bir-run/bir/recorder"
)

const mcpPrefix = "mcp__"

// IsMCP says whether a tool is one of a server.
func IsMCP(tool string) bool { return strings.HasPrefix(tool, mcpPrefix) }

// Split takes a tool's name as the host shows it apart. The server's own name is used
// where it is known, since the shown one is normalised; without it, the first double
// underscore is taken for the border. A built-in tool has no server.
func Split(tool, server string) (name, upstream string) {
	if !IsMCP(tool) {
		return "", tool
	}
	if server != "" {
		if rest, ok := strings.CutPrefix(tool, recorder.QualifiedName(server, "")); ok {
			return server, rest
		}
	}
	name, upstream, ok := strings.Cut(tool[len(mcpPrefix):], "__")
	if !ok {
		return "", tool
	}
	return name, upstream
}

// Names says whether a tool, as the host shows it, can be a server's of that name.
func Names(tool, upstream string) bool {
	return strings.HasSuffix(tool, strings.TrimPrefix(recorder.QualifiedName("", upstream), mcpPrefix))
}

// Serves says whether a tool, as the host shows it, is one of the server's.
func Serves(server, tool string) bool {
	return strings.HasPrefix(tool, recorder.QualifiedName(server, ""))
}
