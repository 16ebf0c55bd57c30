// Package bench measures the built programs from outside. Its figures depend on the
// machine, so nothing here fails for being slow; run it with
//
//	go test -run '^$' -bench . ./conformance/bench [-args -mcpbench PATH]
//
// With mcpbench it also compares the proxy with pumps that only pass bytes, call by
// call in one run, which is what the ratios of a noisy machine can be trusted for.
package bench
