// Package sessions replays sessions that the real client was seen to have: the hook
// events as it sent them, its transcripts growing as it wrote them, and what its
// proxies would have reported of the traffic that was captured. It judges the runs
// that come of them, told in the recorded order and in every other that may happen,
// with kills in between. It holds no session itself; they lie beside the source tree.
package sessions
