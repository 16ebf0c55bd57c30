// Package guards judges the rules of the built-in guards from outside: labelled
// calls and values, mutations of the accepted ones, and the modules' size and speed.
// The host that runs modules is judged by package guard beside it.
package guards
