// Package wire is a host and a server for tests that judge bir-proxy from outside: it
// writes raw bytes into both ends of the proxy and keeps what arrives. It must share no
// framing code with the relay.
//
// Why a server that is driven over a socket? The test then says what both sides
// write, in which order, and sees every byte and signal that reaches the server.
package wire
