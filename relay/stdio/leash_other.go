//go:build unix && !linux

package stdio

import "os/exec"

// leash is nothing here: the kernel offers no parent-death signal. A child whose
// proxy is killed finds the end of its standard input, which the stdio transport
// makes a request to end.
type leash struct{}

func (leash) prepare(*exec.Cmd) {}
func (leash) tie(int)           {}
func (leash) release()          {}
