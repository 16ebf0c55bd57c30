// Package wasmhost runs the evaluator as a WebAssembly module: level wasm. It is
// linked into bir-sandbox alone, and speaks the same frames as package worker, whose
// module it carries. It must never compile on the way to an evaluation: that takes
// ten seconds, and Compile is called ahead.
//
//	pool ── frames ──► bir-sandbox (confined) ── frames ──► guest: goja, in linear memory
//	                   lowers syntax, caps memory            no file, no variable, no socket
//
// Why a guest inside a confined process, and not one of the two? A body that breaks
// out of the interpreter is in linear memory, where there is no system call; one that
// breaks out of that, too, is where a body at level process begins.
//
// Why no limit on instructions? The check on each loop makes a guest three times
// slower, and the pool ends the process on time without it.
//
// Why is the guest's monotonic clock real? Its collector is paced by it, and lets
// memory run full when time stands still. The clock that a body sees is its plan's.
package wasmhost
