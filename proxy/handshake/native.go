package handshake

import (
	"crypto/sha1"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// matchesNative checks a response of mysql_native_password.
func (a Account) matchesNative(response, nonce []byte) bool {
	stored := a.native
	if stored == nil {
		stored = make([]byte, sha1.Size) // nothing hashes to it, and finding that out takes as long as for any other
	}
	return mysql.CompareNativePassword(response, stored, nonce)
}
