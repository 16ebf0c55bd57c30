// Package control judges bir-control from outside, with the other binaries around it:
// who starts it, what it does through them, and when it ends. Everything is in its
// tests.
package control
