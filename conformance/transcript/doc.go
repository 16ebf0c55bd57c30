// Package transcript judges the proxy from outside: it builds bir-proxy, writes raw
// bytes into both ends of it and compares what arrives with what arrives without it.
// It must share no framing code with the relay. Everything is in its tests.
//
// Why an upstream that is driven over a socket? The test then says what both sides
// write, in which order, and sees every byte and signal that reaches the server.
package transcript
