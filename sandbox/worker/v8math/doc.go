// Package v8math has the functions of JavaScript's Math, and its ** operator, with the
// bits that Node 20 gives. It must never depend on the machine: no assembly, no fused
// multiply and add, no function of Go's math but those that IEEE 754 fixes.
//
// The standard leaves the last digit of these functions to the engine, and bodies are
// written and proved against the values of V8. There they are fdlibm's, with a few
// digits of its own: exp(1) is mended, and a power loses one where fdlibm would not. The
// algorithms are written out here anew, in the same order of operations, since each of
// those rounds.
//
// # Why not Go's math?
//
// It differs from V8 in the last digit for a quarter of all sines of degrees, and for
// nine in ten powers of a rate such as 1.05. Some of it is assembly on one processor and
// fused multiplication on another, and a result must not depend on the machine.
//
// # Why is every product converted to float64?
//
// A compiler for Go may fuse x*y + z and skip a rounding, which changes the last digit
// on arm64 and not on amd64. An explicit conversion forbids it. A test reads the machine
// code for arm64.
//
// # Why Node 20 on x86?
//
// Bodies are written for Node 20. Later versions of V8 can compute powers with the
// system's library, and builds for arm64 may fuse multiplications: they differ from it.
package v8math
