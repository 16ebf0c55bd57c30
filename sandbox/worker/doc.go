// Package worker is the evaluator: it runs one JavaScript body at a time in goja,
// each in a runtime of its own, and answers over the frames of package wire. It
// opens nothing, reads no clock but for its deadline, and knows no operating
// system: what confines the process is given to Serve by main. It must never let
// a body's value, error or getter run outside the deadline.
//
// Why a fresh runtime for every evaluation? A body can change every builtin, and
// a runtime that was used cannot be proved clean. A new one costs microseconds;
// only the compiled program is kept.
//
// Why are the size checks on builtins not the memory cap? They are a courtesy: a
// body that asks for 'x'.repeat(2**30) is told so and the worker lives on. The cap
// is the watch on the heap here, the limits of the process, and the pool's kill.
package worker
