// Package load puts many sessions, servers and calls on one control server at once,
// and holds that every run is complete and in order. Everything is in its tests.
package load
