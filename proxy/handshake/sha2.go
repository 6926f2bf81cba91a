package handshake

import (
	"bytes"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// wantPublicKey is the byte by which a client requests the public key for its password, in the full path.
const wantPublicKey = 0x02

// checkSHA2 verifies a response of caching_sha2_password. The fast path suffices if the password's digest is known and the response
// matches. Otherwise it requests the password itself. So a wrong password takes the same path whether or not an account, or a digest
// of it, exists.
func (d *dialogue) checkSHA2(account Account, known bool, response []byte) (bool, error) {
	if d.matchesDigest(account, response) && known {
		return true, d.send(wire.AppendAuthMore(d.out[:0], d.seq, []byte{mysql.CACHE_SHA2_FAST_AUTH}))
	}
	if !d.secret() && d.cfg.RSA == nil {
		return false, nil
	}
	if err := d.send(wire.AppendAuthMore(d.out[:0], d.seq, []byte{mysql.CACHE_SHA2_FULL_AUTH})); err != nil {
		return false, err
	}
	password, err := d.password()
	if err != nil {
		return false, err
	}
	return d.matchesPassword(account, known, password), nil
}

// matchesDigest is the fast path. The response is SHA256(password) XOR SHA256(digest, nonce); the digest is SHA256(SHA256(password)).
func (d *dialogue) matchesDigest(account Account, response []byte) bool {
	digest, ok := account.digest, account.digest != nil
	if !ok {
		digest, ok = d.cfg.Digests.get(account)
	}
	if !ok {
		digest = make([]byte, sha256.Size)
	}
	if len(response) != sha256.Size {
		return false
	}
	mask := sha256.Sum256(append(bytes.Clone(digest), d.nonce[:]...))
	once := mysql.Xor(response, mask[:])
	twice := sha256.Sum256(once)
	return subtle.ConstantTimeCompare(twice[:], digest) == 1 && ok
}

// matchesPassword is the full path.
func (d *dialogue) matchesPassword(account Account, known bool, password []byte) bool {
	digest := doubleSHA256(password)
	var right bool
	switch {
	case account.digest != nil:
		return subtle.ConstantTimeCompare(digest[:], account.digest) == 1
	case account.crypt != nil:
		right = account.crypt.matches(password)
	case account.native != nil:
		right = subtle.ConstantTimeCompare(mysql.NativePasswordHash(password), account.native) == 1
	}
	if right && known {
		d.cfg.Digests.put(account, digest)
	}
	return right
}

// password requests the client's password. It arrives in clear if nobody can eavesdrop, else encrypted. A password that can't be
// decrypted counts as wrong.
func (d *dialogue) password() ([]byte, error) {
	sent, err := d.receive()
	if err != nil || d.secret() {
		return bytes.TrimSuffix(sent, []byte{0}), err
	}
	if len(sent) == 1 && sent[0] == wantPublicKey {
		if sent, err = d.publicKey(); err != nil {
			return nil, err
		}
	}
	masked, err := rsa.DecryptOAEP(sha1.New(), nil, d.cfg.RSA, sent, nil)
	if err != nil {
		return nil, nil
	}
	return bytes.TrimSuffix(mysql.Xor(masked, d.nonce[:]), []byte{0}), nil
}

// publicKey sends the public key and returns the client's answer, which is encrypted with it.
func (d *dialogue) publicKey() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(&d.cfg.RSA.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("encode the RSA key: %w", err)
	}
	key := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	if err := d.send(wire.AppendAuthMore(d.out[:0], d.seq, key)); err != nil {
		return nil, err
	}
	return d.receive()
}
