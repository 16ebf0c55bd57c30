// Package bench measures the built programs from outside. Its figures depend on the
// machine, so nothing here fails for being slow; run it with
//
//	go test -run '^$' -bench . ./conformance/bench
//
// What can be trusted on a noisy machine is the ratio to a pump, which does nothing
// but pass the bytes: the calls of one alternate with those of the other.
package bench
