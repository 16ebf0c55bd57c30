package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestServiceLetsTheSessionGoFirst(t *testing.T) {
	cfg := config(t)
	if _, err := Connect(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	file, err := Read(cfg.Home)
	if err != nil {
		t.Fatal(err)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", file.PID))
	if err != nil || len(threads) == 0 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) { // the thread has ended
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if nice, err := strconv.Atoi(fields[16]); err != nil || nice < 5 { // more where we have more ourselves
			t.Errorf("%s: niceness %s", path, fields[16])
		}
	}
}
