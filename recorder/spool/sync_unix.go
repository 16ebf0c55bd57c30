//go:build !windows

package spool

import "os"

// syncDir makes a new file's name durable. A folder that cannot be synced leaves
// the file as safe as the file system makes it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
