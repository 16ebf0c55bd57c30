package relaytest

import (
	"testing"
	"time"
)

// tries is how often a machine may be too busy for what takes no time.
const tries = 5

// Within holds that what would take limit, if it were waited for, is not: then each try
// would take so long. One that does not is enough, since a busy machine may hold up any.
func Within(t testing.TB, limit time.Duration, try func() time.Duration) {
	t.Helper()
	for range tries {
		if try() < limit || t.Failed() {
			return
		}
	}
	t.Errorf("it took %v, each of %d times", limit, tries)
}
