package confine

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// maxStackBytes is what recursion inside the interpreter may use: deeply
	// nested JSON or source. Over it Go ends the process, and the pool reads why.
	maxStackBytes = 32 << 20
	// gcPercent lets a small heap grow before it is collected. Near the memory
	// limit the runtime collects more often by itself.
	gcPercent = 400
)

// goMemory makes the collector work harder before the cap is reached, so that
// only what is alive counts against it.
func goMemory(memoryBytes int64) error {
	debug.SetMaxStack(maxStackBytes)
	debug.SetGCPercent(gcPercent)
	debug.SetTraceback("none") // a crash is read by its first line only
	debug.SetMemoryLimit(min(math.MaxInt64/2, mapped()+memoryBytes*3/4))
	return nil
}

// mapped is the memory that the Go runtime has now.
func mapped() int64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
