// Package web reaches an MCP server over HTTP: the streamable transport of both
// protocol eras, and the legacy event stream transport. To the relay it looks like a
// child process: lines are written to it and read from it. It owns the connections,
// the session and what is needed to renew it. It must never send a static header to
// another origin, log a header's value, change a message other than in the white
// space between its tokens, or leave a request without an answer.
//
//	Write ─► lines ─► dispatch ─┬─► request: a goroutine, a POST ──┐
//	                            └─► notification: in order, a POST │
//	Read  ◄─ outbox ◄ deliver ◄─ JSON body, or event by event ◄─────┘
//	            ▲                                  GET stream ◄─ listen
//	            └── one JSON-RPC error for each request that ends without an answer
//
// Why a goroutine for each request? Requests are independent POSTs whose answers
// come in any order, and one may last for hours. Notifications keep their order, and
// what follows initialize or notifications/initialized waits until the server has
// acknowledged that, since a host on stdio need not wait for it.
//
// Why a queue of so few bytes towards the host? A host that does not read stops us
// from reading, and so the server from writing. What is held is one message for each
// open request, and a budget bounds those together.
//
// Why is the session renewed here and not by the host? On stdio a host knows no
// sessions. The server refused the request with 404 before it looked at it, so
// sending it again is safe. Nothing else is ever sent twice.
//
// Why is it not renewed after a 400 that speaks of a session? Some servers answer a
// session that they forgot so, but the specification names 404 alone: a 400 may come
// after part of the request has run, and its words are no promise. The host gets it.
package web
