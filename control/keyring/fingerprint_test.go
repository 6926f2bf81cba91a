package keyring_test

import (
	"testing"

	"locus/idgen/cipher"
)

func fingerprint(t *testing.T, ring string, version uint32) string {
	t.Helper()
	r, err := cipher.Parse([]byte(ring))
	if err != nil {
		t.Fatal(err)
	}
	return r.Fingerprint(version)
}
