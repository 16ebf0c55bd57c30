// Package runs is the book of what is going on in a project: which sessions there
// are, which runs are open, what is known of their calls. It takes in hook events and
// proxies' reports, makes one ordered run of each turn and reports it to a recorder.
// It never starts, finds or serves anything, and no host ever hears of an error of
// its.
//
//	hook event ─┐ read: redact, cut, ids,     ┌─► journal
//	            ├─ clock, transcript, proxies ─┤      │ after a crash
//	report ─────┘                             └─► machine.State ──► recorder
//
// Why a machine without a world? All that could differ between two times is read
// before an event is applied and is part of it. So the journal is the list of events,
// a crash at any point is mended by applying them again, and what is then reported
// again has the ids it had and is booked once.
//
// Why does a run begin with its first call? Servers start while the prompt is sent,
// and the run should say which of them were wrapped. A turn without calls begins when
// it ends.
//
// Why does a late half correct nothing? A row is written once, under its id. A proxy's
// report that comes more than 1.5 s after the hook's finds its call numbered; it still
// fills in what is not reported, and is dropped otherwise: the hook's view is true, if
// less exact.
//
// Why is a proxy not bound to a session? After /clear the host has another session and
// the same servers. A report goes where a hook spoke of its id; one that no hook speaks
// of to the turn of the session that its proxy was started in, then to the only turn
// there is, and else to a run of the proxy's own, of tier standalone.
//
// Why is a turn not over at Stop? A hook of somebody else may send the model back to
// work, which its transcript shows, and subagents may work on. Their run is open until
// the host has told the model of their end, the session has ended, or nothing was heard
// of them for half an hour. A host that was killed is missed when its servers have all
// ended and nothing was heard of it for ten minutes.
//
// Why is a run unmeasured whose session was compacted? The request for the summary is
// in no transcript: what is there would be a number, and a wrong one.
//
// Why may a turn without a prompt be whole? The session itself starts the control
// server, and the first prompt may be faster. The transcript has it under the id that
// every later event carries, with all that was missed; only what is nowhere is lost.
package runs
