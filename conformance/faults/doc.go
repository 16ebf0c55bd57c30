// Package faults makes each thing go wrong that can go wrong around bir-proxy, one at
// a time, and holds that the host's session is the same as without it: nothing hangs,
// nothing that was answered is lost, and nobody stays behind. Everything is in its
// tests; a row of a table is a fault.
package faults
