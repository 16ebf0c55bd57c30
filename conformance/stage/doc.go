// Package stage is a project with bir's real binaries around it and a scripted host
// in it: hooks go through bir-hooks, calls through bir-proxy to a small server, and
// what is recorded is read back with bir. It judges nothing; suites do.
package stage
