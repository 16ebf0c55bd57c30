//go:build !unix

package sessions

import "testing"

func run(m *testing.M) int { return m.Run() }
