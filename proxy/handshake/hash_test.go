package handshake

import (
	"crypto/rand"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A stored hash matches its own password, and no other.
func TestHashesRecogniseTheirPasswords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		password := rapid.StringMatching(`.{1,40}`).Draw(t, "password")
		hash, err := HashPassword(password, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		account, err := WithHash("u", hash)
		if err != nil {
			t.Fatalf("%s: %v", hash, err)
		}
		if !account.crypt.matches([]byte(password)) || account.crypt.matches([]byte(password+"x")) {
			t.Fatalf("%q: %s", password, hash)
		}
	})
	for _, wrong := range []string{"", strings.Repeat("x", maxPassword+1)} {
		if _, err := HashPassword(wrong, rand.Reader); err == nil {
			t.Errorf("a password of %d bytes was taken", len(wrong))
		}
	}
	if _, err := HashPassword("x", strings.NewReader("few")); err == nil {
		t.Error("a salt was made of too little")
	}
}
