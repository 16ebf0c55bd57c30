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
package main
