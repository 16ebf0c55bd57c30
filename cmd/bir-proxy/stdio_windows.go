package main

import (
	"os"
	"syscall"
)

// polled leaves a stream as it is: Windows reads each from a thread of its own.
func polled(f *os.File) (*os.File, func()) { return f, func() {} }

func forwarded() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func failedWrites() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

// signalStatus is what a console program that is interrupted ends with here.
func signalStatus(os.Signal) int { return exitFailed }
