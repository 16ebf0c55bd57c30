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
//
// Why do names in the source decide what a body gets? Defining all of Node's globals
// takes longer than most bodies run. A body that needs one spells it; one that puts
// the name together at run time goes without.
//
// Why are regular expressions objects of goja with a mark for a pattern? Everything
// that asks for a RegExp then gets a real one, while the matching is ours: exec and
// the methods beside it look the mark up.
//
// Why are messages reworded and not thrown anew? A body may keep the error, and
// compare it. So the words change on the object, where it is first seen.
package worker
