// Package process asks the system about other processes, and starts those that outlive
// whoever started them. It ends none.
package process
