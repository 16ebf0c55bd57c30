// Package confine takes from the process that calls it what an evaluator does not
// need: memory, files, the network, other programs. Each measure is best effort,
// because each is missing somewhere; what took hold is returned by name, so that
// `bir doctor` can tell. It knows nothing of what the process runs.
package confine

import "github.com/bir-run/bir/sandbox/wire"

// Process confines this process for good.
func Process(setup wire.Setup) []string {
	var held []string
	for _, measure := range measures(setup.MemoryBytes) {
		if measure.apply() == nil {
			held = append(held, measure.name)
		}
	}
	return held
}

// measure is one thing that may be taken. Its error only means that it is not.
type measure struct {
	name  string
	apply func() error
}
