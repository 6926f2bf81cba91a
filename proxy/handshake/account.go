package handshake

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Account is a user name and the means to verify its password. The zero Account has no name and verifies no password.
type Account struct {
	name   string
	hash   string    // the argument of WithHash; identifies a version of the account
	open   bool      // the password is empty
	native []byte    // SHA1(SHA1(password)), if known
	digest []byte    // SHA256(SHA256(password)), if known
	sealed bool      // only over an encrypted connection or a Unix socket
	crypt  *shaCrypt // the stored hash of caching_sha2_password, if only that is known
}

// WithPassword returns an account for a password, which may be empty. The password itself isn't kept.
func WithPassword(name, password string) Account {
	if password == "" {
		return Account{name: name, open: true}
	}
	digest := doubleSHA256([]byte(password))
	return Account{name: name, native: mysql.NativePasswordHash([]byte(password)), digest: digest[:]}
}

// WithHash returns an account for a hash that MySQL stores as authentication_string. For mysql_native_password that is "*" and 40
// hexadecimal digits. For caching_sha2_password it is "$A$005$", 20 bytes of salt and 43 characters. The salt may hold any byte,
// so the whole hash may be given in hexadecimal after "0x", as SHOW CREATE USER prints it.
func WithHash(name, hash string) (Account, error) {
	account := Account{name: name, hash: hash}
	if digits, ok := strings.CutPrefix(hash, "0x"); ok {
		plain, err := hex.DecodeString(digits)
		if err != nil {
			return Account{}, fmt.Errorf("password hash of %s: %w", name, err)
		}
		hash = string(plain)
	}
	var err error
	if digits, ok := strings.CutPrefix(hash, "*"); ok && len(digits) == 40 {
		account.native, err = hex.DecodeString(digits)
	} else {
		account.crypt, err = parseSHACrypt(hash)
	}
	if err != nil {
		return Account{}, fmt.Errorf("password hash of %s: %w", name, err)
	}
	return account, nil
}

// Encrypted returns the account restricted to logins over TLS or a Unix socket.
func (a Account) Encrypted() Account {
	a.sealed = true
	return a
}

// Name returns the account's user name.
func (a Account) Name() string { return a.name }

// String returns the name. Everything else about an account must not be logged.
func (a Account) String() string { return a.name }

func doubleSHA256(b []byte) [sha256.Size]byte {
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}
