package confine

import "golang.org/x/sys/unix"

const arch = unix.AUDIT_ARCH_LOONGARCH64

var older []uint32
