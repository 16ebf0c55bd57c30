package command_test

import (
	"testing"

	"github.com/bir-run/bir/sandbox/guards/pinguard/command"
)

func BenchmarkCompare(b *testing.B) {
	for b.Loop() {
		d := command.Compare("cd /repo && npm run lint 2>&1 | tail -20", "cd /repo && npm run lint -- --fix 2>&1 | tail -20", command.Posix)
		if d != nil {
			b.Fatal(d)
		}
	}
}
