// Package http judges the proxy in front of servers that are reached over HTTP: it
// builds bir-proxy, speaks raw lines to it, and compares what comes back with what the
// same server answers without it. The servers are the npm server-everything in both of
// its HTTP transports and the official Go SDK, which speaks both protocol eras. It
// must share no framing code with the relay. Everything is in its tests.
package http
