//go:build !wasip1

package guardsdk

// Serve has nothing to serve outside WebAssembly. It is here so that a guard's
// package builds natively, where its rules are tested.
func Serve(h Handlers) Handlers { return h }
