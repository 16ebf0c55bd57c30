// Package daemon is the life of a control server: how one is started, found, replaced
// by a newer one and stopped. It never takes a report itself, and never stops one
// that it was not asked to stop.
//
// Ensure is the one way to start: `bir up` calls it, and bir-hooks and the proxies,
// which must stay small, run `bir-control --root ROOT --detach`, which is nothing but
// Ensure. It returns once a control server answers: the one that it started, or the
// one that another process did.
//
//	Ensure ──► start lock ──► answers? ── yes, and not older ──► done
//	                             └── no, or older ──► spawn bir-control --root ROOT
//	                                                        │ Run
//	          lock free ◄── older one hands over ◄── lock held? ── by one not older: ends
//	              └──► listen, open the book (its journal), write the discovery file, serve
//
// A server that was stopped by `bir down` is started by `bir up` only, and by what
// calls it (`bir install`, `bir setup`): whoever stopped it meant every session, the
// next one too.
//
// Why does a hand-over lose no hook? The next server listens before it asks the last
// one to end: its Unix socket takes the place of the old one by a rename, and on Linux
// both share the TCP port. Who comes in between waits in the queue of the next one.
//
// Why is the token new after a crash? Until somebody starts a server again, any
// program could have listened at its address, and been sent the token by a proxy.
package daemon
