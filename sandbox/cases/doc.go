// Package cases reads files of bodies with their arguments and expected outcomes,
// runs them in order through an evaluator, and says where a result first differs.
// It prints nothing and decides no exit code: that is the command's.
package cases
