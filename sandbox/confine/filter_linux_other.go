//go:build linux && !(amd64 || arm64 || riscv64 || loong64)

package confine

import "errors"

func denySyscalls() error { return errors.New("no filter for this processor") }
