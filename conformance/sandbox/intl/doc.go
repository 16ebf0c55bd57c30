// Package intl judges sandbox/worker/intl by Node's answers. The scripts beside it
// recorded them, and the data that the answers are made from: data.mjs and cases.mjs,
// to be run by a Node 20 with its full data. The tests need no Node. The package holds
// no code but its tests.
package intl
