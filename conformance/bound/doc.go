// Package bound judges bir-proxy beside a control server from outside: a process that
// speaks the control server's routes, notes what it is told and can be killed. The
// proxy is the built program, between a host and a server that write raw bytes.
package bound
