package pinguard

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bir-run/bir/sandbox/guards/pinguard/command"
)

// class says which rules a tool falls under.
type class int

const (
	otherTool   class = iota
	shellTool         // a shell of the host's own
	writingTool       // writes a file
	readingTool       // only reads files
	runningTool       // runs an argument: a query, a statement, a command
)

// tool is what its name says about it.
type tool struct {
	name     string
	class    class
	words    []string
	language command.Language
	destroys bool
}

// hostTools are the tools that the host itself offers, by their exact name.
var hostTools = map[string]class{
	"Bash": shellTool, "PowerShell": shellTool, "Write": writingTool, "Edit": writingTool, "MultiEdit": writingTool,
	"NotebookEdit": writingTool, "Read": readingTool, "Grep": readingTool, "Glob": readingTool, "LS": readingTool,
	"NotebookRead": readingTool,
}

// readingTools are the read-only tools of the common file servers.
var readingTools = map[string]bool{
	"read_file": true, "read_text_file": true, "read_media_file": true, "read_multiple_files": true, "list_directory": true,
	"list_directory_with_sizes": true, "directory_tree": true, "search_files": true, "get_file_info": true,
	"list_allowed_directories": true,
}

var (
	writeWords  = words("write edit append save patch")
	changeWords = words("create put update move copy delete rename remove")
	fileWords   = words("file files directory folder document notebook")
	runWords    = words("sql mysql postgres postgresql sqlite mariadb mssql query queries exec execute shell bash sh zsh powershell " +
		"pwsh cmd command commands terminal eval evaluate script psql statement graphql cypher")
	runStems     = []string{"sql", "query", "exec", "shell", "bash", "terminal"}
	destroyWords = words("delete remove drop destroy purge kill cancel revoke terminate transfer pay refund charge wipe erase " +
		"uninstall disable shutdown truncate merge")
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// toolOf takes the upstream's own name of a tool, and a qualified one too.
func toolOf(server, name string) tool {
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		if i := strings.LastIndex(rest, "__"); i >= 0 {
			server, name = rest[:i], rest[i+2:]
		}
	}
	t := tool{name: name}
	if class, ok := hostTools[name]; ok && server == "" {
		t.class = class
		if name == "PowerShell" {
			t.language = command.PowerShell
		}
		return t
	}
	own := nameWords(name)
	t.words = append(slices.Clip(own), nameWords(server)...)
	t.destroys = hasAny(own, destroyWords)
	switch {
	case readingTools[name]:
		t.class = readingTool
	case hasAny(t.words, runWords) || hasStem(t.words):
		t.class = runningTool
	case hasAny(own, writeWords) || hasAny(own, changeWords) && hasAny(own, fileWords):
		t.class = writingTool
	}
	if t.class == runningTool && (slices.Contains(t.words, "powershell") || slices.Contains(t.words, "pwsh")) {
		t.language = command.PowerShell
	}
	return t
}

func hasAny(list []string, set map[string]bool) bool {
	return slices.ContainsFunc(list, func(w string) bool { return set[w] })
}

func hasStem(list []string) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		return slices.ContainsFunc(runStems, func(stem string) bool { return strings.Contains(w, stem) })
	})
}

// nameWords takes a name in any convention apart: runSQL, run_sql, Run-Sql. Letters
// beyond ASCII belong to words.
func nameWords(name string) (all []string) {
	start := 0
	end := func(at int) {
		if at > start {
			all = append(all, strings.ToLower(name[start:at]))
		}
	}
	for i := range len(name) {
		switch b := name[i]; {
		case !isWordByte(b):
			end(i)
			start = i + 1
		case isUpper(b) && i > start && (!isUpper(name[i-1]) || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z'):
			end(i)
			start = i
		}
	}
	end(len(name))
	return all
}

func isWordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || isUpper(b) || b >= '0' && b <= '9' || b >= utf8.RuneSelf
}

func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }
