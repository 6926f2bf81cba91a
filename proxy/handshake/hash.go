package handshake

import (
	"fmt"
	"io"
)

// HashPassword returns the authentication_string that MySQL's caching_sha2_password stores for a password. It reads the
// salt from random. The salt consists of letters and digits, so that the hash can be written in files.
func HashPassword(password string, random io.Reader) (string, error) {
	switch {
	case password == "":
		return "", fmt.Errorf("a password must not be empty")
	case len(password) > maxPassword:
		return "", fmt.Errorf("a password has at most %d bytes", maxPassword)
	}
	raw := make([]byte, saltSize)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("make a salt: %w", err)
	}
	salt := make([]byte, 0, saltSize)
	for _, b := range raw {
		salt = append64(salt, uint(b), 1)
	}
	const rounds = 5 * roundsUnit
	return fmt.Sprintf("$A$%03X$%s%s", rounds/roundsUnit, salt, cryptSHA256([]byte(password), salt, rounds)), nil
}
