package process

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreeAddr is a port that nobody has at the moment: below those that the system
// gives to connections by itself, which may take any of theirs a moment later.
func FreeAddr(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000)))
		if err == nil {
			defer l.Close()
			return l.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}
