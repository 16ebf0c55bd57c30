// Package kill kills each of bir's processes at every point of a turn, and holds that
// the host's session does not notice, that nothing recorded is lost, and that a run
// says so where something is. Everything is in its tests.
package kill
