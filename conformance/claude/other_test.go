//go:build !linux

package claude

import "testing"

func TestTheClientIsDrivenOnLinuxOnly(t *testing.T) {
	t.Skip("the pinned client is the one for Linux; elsewhere nothing is driven")
}
