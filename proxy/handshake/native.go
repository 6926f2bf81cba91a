package handshake

import (
	"crypto/sha1"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// matchesNative verifies a response of mysql_native_password.
func (a Account) matchesNative(response, nonce []byte) bool {
	stored := a.native
	if stored == nil {
		stored = make([]byte, sha1.Size) // no password matches it, and checking takes as long as for others
	}
	return mysql.CompareNativePassword(response, stored, nonce)
}
