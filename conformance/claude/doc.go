// Package claude drives the real Claude Code client, with and without bir, against a
// scripted model and a scripted MCP server, and judges three things: what was
// recorded, what the server saw and what the model saw. Without bir and with it the
// model must be sent the same bytes. The client is the pinned package of the folder
// npm (make claude installs it); without it the tests are skipped and say so. It runs
// with an environment and a home of its own, in a network namespace that holds nothing
// but loopback, and with a key that is none. Everything is in the tests.
//
// Why is the MCP server told over a socket what to do, and why does it tell what it
// saw the same way? A test can then wait for a call to be under way and end it when
// the story wants it to end, without a sleep.
package claude
