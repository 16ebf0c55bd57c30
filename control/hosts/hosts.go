// Package hosts puts bir-proxy and bir's hooks into the configuration of MCP clients,
// and takes them out again. Which client has its servers where is its adapter's; what
// is changed in a file, and what takes it back, is here. It must never write a file
// whose form it does not know, lose a change that somebody else made, or keep a
// credential.
package hosts

import (
	"encoding/json"
	"fmt"

	"github.com/bir-run/bir/control/hosts/shape"
)

// Places are where a client looks for its configuration.
type Places struct {
	OS   string // as runtime.GOOS has it
	Home string // the user's
	Root string // of the project
	Dir  string // the working folder
	// Lookup reads the environment: some clients can be told to look elsewhere.
	Lookup func(name string) string
	Proxy  string // path of bir-proxy, for entries that are copies
	// Copied says whether bir put an entry there as a copy. nil: none.
	Copied func(file string, path []string) bool
	// Managed is the folder of the machine's administrator; empty: the client's own.
	Managed string
}

// Host is a client: what a new one has to know.
type Host interface {
	// Name is the word for it on the command line.
	Name() string
	// Servers are the servers that the client would start in the project, each with
	// the place of its entry.
	Servers(p Places) ([]Server, error)
}

// Formats of files.
const (
	JSON = "json" // also with comments and trailing commas
	TOML = "toml"
	// Lines is a list with an entry a line, as git's lists of ignored files are. An
	// entry is added under its own name, with itself as a JSON string for its value.
	Lines = "lines"
)

// Spot is where a server's entry is.
type Spot struct {
	File   string
	Format string
	Path   []string // of the entry, its name last
	Shape  shape.Shape
}

// Server is one server of a client.
type Server struct {
	shape.Server
	Name  string
	Scope string // local, project, user; empty where the client has one
	At    Spot   // where the entry that is in force is
	To    Spot   // where a wrapped one goes: the same, or before it
	// Copy is the wrapped entry for To, where that is not At.
	Copy json.RawMessage
	// Leave says why the server is left as it is; empty: it is to be wrapped.
	Leave string
	// Named says that the server is wrapped all the same for one who names it.
	Named bool
	// Stale says that the wrapped entry no longer says what the one behind it does.
	Stale bool
}

// Change is what is to become of one file.
type Change struct {
	Host   string
	File   string
	Format string
	Shape  *shape.Shape // of Wrap
	Shared bool         // the client takes a lock before it writes the file
	Ops    []Op
}

// Op changes one place of a file. It is one of journal.Wrap, Put and Add.
type Op struct {
	Kind   string
	Path   []string
	Value  json.RawMessage // of Put and Add
	Server string          // whose entry it is: its value is not kept
	Secret bool            // nor is this one, and nobody else may read the file
	Wrap   shape.Wrap
}

// Error names the file that a change failed in.
type Error struct {
	File string
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.File, e.Err) }
func (e *Error) Unwrap() error { return e.Err }
