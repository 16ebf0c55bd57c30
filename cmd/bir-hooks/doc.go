// Command bir-hooks is what a host runs at each event of a session: it takes the
// event to the control server of the project and prints the answer. The host waits for
// it, so it is as little as a process can be: the standard library only, no net/http,
// no JSON beyond the few members it needs.
//
//	bir-hooks PreToolUse < payload
//
// The host's session must never fail because of it. A hook that cannot answer prints
// nothing and exits with 0; so does one that is slow, that gets garbage, whose input
// never ends or whose output nobody reads. BIR_HOOKS_DEBUG=1 makes it say on standard
// error what went wrong.
//
// At SessionStart it also sees to it that there is a control server of its own version
// or a newer one, which takes `bir-control --root ROOT --detach` beside it. That is
// never done where the user ran `bir down`, nor where bir is off.
//
// Why a command, when the client can post an event itself? Measured on two busy cores,
// medians in milliseconds of one event, from the host's call to its answer:
//
//	host                              bir-hooks   its own POST, warm
//	Bun 1.4, 60 MB resident                 3.3   0.5
//	Bun 1.4, 600 MB resident            3.2-3.7   0.5
//	Node 20, 70 MB resident             4.3-4.9   0.5
//	Node 20, 580 MB resident              34-49   0.6
//	Node 20, 1.1 GB resident                136   0.7
//
// Node copies its page tables for a child and stands still meanwhile; Bun, on which
// the client's native program is built, does not. In the real client (2.1.332, two
// runs of 8 and 10 sessions, 60 events in 30 calls of a tool each, on a machine with
// more to do than cores) its own figures for a command had the fastest tenth below
// 4-8 ms and half below 10-16, much of which is the client's: /bin/true as a hook made
// a session slower, too. It gives no figures for HTTP, and whole sessions scattered too
// much to tell HTTP hooks from none. So a call of a tool, which has two or three
// events, costs some 10 to 50 ms more with the command on such a machine, where the
// model takes seconds. What it buys: the settings hold no secret and no port, proxy
// variables do not matter, and above all a control server that is away goes unnoticed,
// whereas the client reports every POST that is refused as a hook that gave no usable
// answer. The command is the default for that, and HTTP the choice for a client that
// runs on Node.
//
// Why end by a signal? A Go program that panics exits with 2, which
// the client takes for an order to block; a hook that a signal ended it passes over.
// One hole is left: where the user's limit of processes or of address space does not
// even let the Go runtime start, it exits with 2 before any code of ours.
package main
