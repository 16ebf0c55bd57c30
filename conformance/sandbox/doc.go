// Package sandbox judges the evaluator from outside: it builds the real worker and
// runs corpora of attacks and of ordinary JavaScript through a pool, as a caller
// would. It holds no code but its tests.
package sandbox
