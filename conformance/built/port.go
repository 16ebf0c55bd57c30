package built

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Ports for servers that cannot be told to take any. They lie below those that the system
// gives out, so that nobody else gets one between two uses of it.
const firstPort, ports = 20_000, 10_000

// Address is one on loopback where nobody listens.
func Address(t testing.TB) string {
	t.Helper()
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(ports))
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
}
