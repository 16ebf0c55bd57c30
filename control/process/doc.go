// Package process asks the system about other processes and sets children free. It
// ends none.
package process
