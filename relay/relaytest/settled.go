package relaytest

import (
	"time"

	"go.uber.org/goleak"
)

// Settle runs the tests of a package, and lets the goroutines that they ended end. Goleak
// itself has half a second for these, in which a busy machine may not get to one.
func Settle(m goleak.TestingM) goleak.TestingM { return settled{m} }

type settled struct{ goleak.TestingM }

// Run implements goleak.TestingM.
func (s settled) Run() int {
	code := s.TestingM.Run()
	for until := time.Now().Add(Patience); code == 0 && goleak.Find() != nil && time.Now().Before(until); {
	}
	return code
}
