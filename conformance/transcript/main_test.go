//go:build unix

package transcript

import (
	"os"
	"testing"

	"github.com/bir-run/bir/conformance/wire"
)

func TestMain(m *testing.M) { os.Exit(wire.Run(m)) }
