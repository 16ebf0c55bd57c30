package main

import "github.com/bir-run/bir/recorder"

// newRecorder opens the recorder; the function closes it, within a bound. A nil
// Recorder records nothing.
func newRecorder(*proxy) (recorder.Recorder, func()) {
	return nil, func() {}
}
