package handshake

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"hash"
	"strconv"
	"strings"
)

const (
	saltSize    = 20   // bytes
	cryptSize   = 43   // characters
	roundsUnit  = 1000 // rounds
	maxPassword = 256  // bytes, as in MySQL; the work grows with the square of the length
)

// shaCrypt is the stored hash of caching_sha2_password. It consists of "$A$", thousands of rounds as three hexadecimal digits, "$",
// the salt, and the characters of SHA-crypt with SHA-256 (https://www.akkadia.org/drepper/SHA-crypt.txt).
type shaCrypt struct {
	rounds int
	salt   []byte
	want   []byte
}

func parseSHACrypt(stored string) (*shaCrypt, error) {
	unknown := errors.New(`neither "*" and 40 hexadecimal digits nor "$A$", three digits, "$" and 63 characters`)
	rest, ok := strings.CutPrefix(stored, "$A$")
	digits, rest, found := strings.Cut(rest, "$")
	if !ok || !found || len(digits) != 3 || len(rest) != saltSize+cryptSize {
		return nil, unknown
	}
	thousands, err := strconv.ParseUint(digits, 16, 12)
	if err != nil || thousands == 0 {
		return nil, unknown
	}
	return &shaCrypt{rounds: int(thousands) * roundsUnit, salt: []byte(rest[:saltSize]), want: []byte(rest[saltSize:])}, nil
}

// matches takes about a millisecond per five thousand rounds, for correct and wrong passwords alike.
func (s *shaCrypt) matches(password []byte) bool {
	if len(password) > maxPassword {
		return false
	}
	return subtle.ConstantTimeCompare(cryptSHA256(password, s.salt, s.rounds), s.want) == 1
}

// cryptSHA256 computes SHA-crypt. Its names follow the specification.
func cryptSHA256(password, salt []byte, rounds int) []byte {
	h := sha256.New()
	a := digestA(h, password, salt)
	p := repeatTo(digestOfRepeated(h, password, len(password)), len(password))
	s := repeatTo(digestOfRepeated(h, salt, 16+int(a[0])), len(salt))
	for i := range rounds {
		h.Reset()
		first, last := a, p
		if i%2 == 1 {
			first, last = p, a
		}
		h.Write(first)
		if i%3 != 0 {
			h.Write(s)
		}
		if i%7 != 0 {
			h.Write(p)
		}
		h.Write(last)
		a = h.Sum(a[:0])
	}
	return printCrypt(a)
}

// digestA mixes password and salt (steps 1 to 12).
func digestA(h hash.Hash, password, salt []byte) []byte {
	h.Reset()
	h.Write(password)
	h.Write(salt)
	h.Write(password)
	b := h.Sum(nil)

	h.Reset()
	h.Write(password)
	h.Write(salt)
	h.Write(repeatTo(b, len(password)))
	for n := len(password); n > 0; n >>= 1 {
		if n&1 == 1 {
			h.Write(b)
		} else {
			h.Write(password)
		}
	}
	return h.Sum(nil)
}

func digestOfRepeated(h hash.Hash, b []byte, times int) []byte {
	h.Reset()
	for range times {
		h.Write(b)
	}
	return h.Sum(nil)
}

// repeatTo returns n bytes of b repeated.
func repeatTo(b []byte, n int) []byte {
	out := make([]byte, 0, n)
	for len(out) < n {
		out = append(out, b[:min(len(b), n-len(out))]...)
	}
	return out
}

// printCrypt encodes a digest in SHA-crypt's own base 64. It takes three bytes at a time, from positions 10 apart, and the last two
// by themselves.
func printCrypt(digest []byte) []byte {
	out := make([]byte, 0, cryptSize)
	x, y, z := 0, 10, 20
	for range 10 {
		out = append64(out, uint(digest[x])<<16|uint(digest[y])<<8|uint(digest[z]), 4)
		x, y, z = z+1, x+1, y+1
	}
	return append64(out, uint(digest[31])<<8|uint(digest[30]), 3)
}

func append64(out []byte, v uint, characters int) []byte {
	const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for range characters {
		out = append(out, alphabet[v&63])
		v >>= 6
	}
	return out
}
