package process

import (
	"bytes"
	"os"
	"strconv"
)

// ended says whether a process is there only for its parent to hear of its end.
func ended(pid int) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	name := bytes.LastIndexByte(text, ')') // of the program, which may itself have brackets
	return bytes.HasPrefix(text[name+1:], []byte(" Z"))
}
