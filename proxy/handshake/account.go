package handshake

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Account is a name and the means to recognise its password. The zero Account has no name and no password, and recognises nothing.
type Account struct {
	name   string
	hash   string    // as WithHash got it; tells versions of an account apart
	open   bool      // the password is empty
	native []byte    // SHA1(SHA1(password)), if that is known
	digest []byte    // SHA256(SHA256(password)), if that is known
	sealed bool      // only over a connection that can't be overheard
	crypt  *shaCrypt // the hash that caching_sha2_password stores, if that is all that is known
}

// WithPassword is an account whose password is known in clear; it may be empty. The password itself isn't kept.
func WithPassword(name, password string) Account {
	if password == "" {
		return Account{name: name, open: true}
	}
	digest := doubleSHA256([]byte(password))
	return Account{name: name, native: mysql.NativePasswordHash([]byte(password)), digest: digest[:]}
}

// WithHash is an account of which only what MySQL stores as authentication_string is known: "*" and 40 hexadecimal digits for
// mysql_native_password, or "$A$005$", 20 bytes of salt and 43 characters for caching_sha2_password. As the salt may hold any
// character, the whole may be given in hexadecimal after "0x", as SHOW CREATE USER prints it.
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

// Encrypted is the account for logins by TLS, or a Unix socket, alone.
func (a Account) Encrypted() Account {
	a.sealed = true
	return a
}

// Name is the name by which the account logs in.
func (a Account) Name() string { return a.name }

// String is the name: whatever else is known of an account isn't for logs.
func (a Account) String() string { return a.name }

func doubleSHA256(b []byte) [sha256.Size]byte {
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}
