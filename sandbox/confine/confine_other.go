//go:build !linux

package confine

func measures(memoryBytes int64) []measure {
	return []measure{{"heap watch", func() error { return goMemory(memoryBytes) }}}
}
