// Package suite runs the official conformance suite twice, without bir and through
// it, and holds that every check ends the same. On one leg the suite's client tests a
// server and bir-proxy --http stands in front of that; on the other the suite's fake
// servers test a client and bir-proxy --url carries it to them. Everything is in its
// tests, which need Node and the packages of conformance/npm.
//
// Why compare, and not only demand success? The server and the client under test are
// the official Go SDK's and have gaps of their own. What bir must not do is add one,
// or hide one.
package suite
