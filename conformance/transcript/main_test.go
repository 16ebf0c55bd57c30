//go:build unix

package transcript

import (
	"testing"

	"github.com/bir-run/bir/conformance/wire"
)

func TestMain(m *testing.M) { wire.Main(m) }
