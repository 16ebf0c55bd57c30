package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/bir-run/bir/cmd/internal/app"
)

const (
	mib = 1 << 20
	// leastFree is what a day of work may take, and the system's own needs.
	leastFree = 256 * mib
)

// disk says how much bir's data take, and how much room there is.
func disk(_ context.Context, a *app.App) []Finding {
	free, err := freeBytes(a.Env.Home)
	if err != nil {
		return []Finding{bad("disk", err, "")}
	}
	used, err := usedBytes(a.Env.Home)
	if err != nil {
		return []Finding{bad("disk", err, "")}
	}
	if free < leastFree {
		return []Finding{bad("disk", fmt.Errorf("only %d MiB are free for %s, which takes %d", free/mib, a.Env.Home, used/mib),
			"set BIR_HOME to a folder on another disk, or make room")}
	}
	return []Finding{good("disk", "%s takes %d MiB, %d are free", a.Env.Home, used/mib, free/mib)}
}

// usedBytes adds up the files. One that goes away meanwhile counts nothing.
func usedBytes(dir string) (total uint64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if info, err := entry.Info(); err == nil {
			total += uint64(info.Size())
		}
		return nil
	})
	return total, err
}
