// Package wasm runs the corpora of package sandbox at level wasm. It is apart because
// each attack that costs an evaluator costs half a second to start the next.
package wasm
