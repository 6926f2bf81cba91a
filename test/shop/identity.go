package shop

import (
	"errors"
	"os"
	"sync"
	"testing"

	"locus/proxy/handshake"
)

// Identity returns the certificate and the key of all proxies of a test program. They are generated once,
// because an RSA key takes as long as the rest of a shop.
func Identity(t testing.TB) *handshake.Identity {
	t.Helper()
	made, err := identity()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

var identity = sync.OnceValues(func() (*handshake.Identity, error) {
	dir, err := os.MkdirTemp("", "locus-identity-*")
	if err != nil {
		return nil, err
	}
	made, err := handshake.SelfSigned(dir)
	return made, errors.Join(err, os.RemoveAll(dir))
})
