// Package api is what the HTTP interfaces of bir have in common, on both sides of the
// connection: how a body is read, how an answer is written, how a request is made, and
// the problem document (RFC 9457) that tells a program what went wrong. It owns the
// codes that every server has. It has no routes, lets nobody in, and tells a caller
// nothing of an error that a server's table does not name.
//
// Why two types for one error? A Refusal is made by a server, for a caller to be told.
// A Problem was told by a server. One that a server was told itself, by another, must
// not pass for its own word.
package api
