package handshake

import (
	"crypto/sha1"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// matchesNative verifies a response of mysql_native_password.
func (a Account) matchesNative(response, nonce []byte) bool {
	stored := a.native
	if stored == nil {
		stored = make([]byte, sha1.Size) // no password matches this hash, and the check takes as long as for other users
	}
	return mysql.CompareNativePassword(response, stored, nonce)
}
