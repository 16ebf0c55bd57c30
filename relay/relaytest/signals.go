package relaytest

import (
	"os"
	"os/signal"
	"syscall"
)

// HeedSignals lets what the tests start heed signals that they themselves were started to
// ignore, as under nohup or in the background of a script: a program inherits what is
// ignored, but not what is caught.
func HeedSignals() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
