package cipher

import (
	"bytes"
	"crypto/aes"
	"encoding/hex"
	"math/big"
	"testing"
)

// plainFF1 is FF1 of NIST SP 800-38G, written step by step as in the standard (algorithms 7 and 8), for any
// radix up to 36. It is slow, and too simple to contain the same errors as the product's code.
type plainFF1 struct {
	key   []byte
	radix int
}

func (p plainFF1) encrypt(tweak []byte, x string) string {
	u := len(x) / 2
	v := len(x) - u
	a, b := x[:u], x[u:]
	for i := range 10 {
		y := p.roundValue(tweak, len(x), i, b)
		m := u
		if i%2 == 1 {
			m = v
		}
		c := new(big.Int).Add(p.num(a), y)
		a, b = b, p.str(m, c.Mod(c, p.power(m)))
	}
	return a + b
}

func (p plainFF1) decrypt(tweak []byte, x string) string {
	u := len(x) / 2
	v := len(x) - u
	a, b := x[:u], x[u:]
	for i := 9; i >= 0; i-- {
		y := p.roundValue(tweak, len(x), i, a)
		m := u
		if i%2 == 1 {
			m = v
		}
		c := new(big.Int).Sub(p.num(b), y)
		a, b = p.str(m, c.Mod(c, p.power(m))), a
	}
	return a + b
}

// roundValue returns y of steps 6.i to 6.iv.
func (p plainFF1) roundValue(tweak []byte, n, i int, half string) *big.Int {
	u := n / 2
	v := n - u
	bytesOf := (new(big.Int).Sub(p.power(v), big.NewInt(1)).BitLen() + 7) / 8 // b
	d := 4*((bytesOf+3)/4) + 4

	t := len(tweak)
	block := []byte{
		1, 2, 1, byte(p.radix >> 16), byte(p.radix >> 8), byte(p.radix), 10, byte(u),
		byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), byte(t >> 24), byte(t >> 16), byte(t >> 8), byte(t),
	}
	q := bytes.Clone(tweak)
	for (len(q)+1+bytesOf)%16 != 0 {
		q = append(q, 0)
	}
	q = append(q, byte(i))
	q = append(q, p.num(half).FillBytes(make([]byte, bytesOf))...)

	r := p.prf(append(block, q...))
	s := bytes.Clone(r)
	for j := 1; len(s) < d; j++ {
		counter := big.NewInt(int64(j)).FillBytes(make([]byte, 16))
		s = append(s, p.ciph(xor(r, counter))...)
	}
	return new(big.Int).SetBytes(s[:d])
}

func (p plainFF1) prf(x []byte) []byte {
	y := make([]byte, 16)
	for ; len(x) > 0; x = x[16:] {
		y = p.ciph(xor(y, x[:16]))
	}
	return y
}

func (p plainFF1) ciph(x []byte) []byte {
	block, err := aes.NewCipher(p.key)
	if err != nil {
		panic(err)
	}
	y := make([]byte, 16)
	block.Encrypt(y, x)
	return y
}

func xor(a, b []byte) []byte {
	c := make([]byte, len(a))
	for i := range c {
		c[i] = a[i] ^ b[i]
	}
	return c
}

func (p plainFF1) power(m int) *big.Int {
	return new(big.Int).Exp(big.NewInt(int64(p.radix)), big.NewInt(int64(m)), nil)
}

func (p plainFF1) num(x string) *big.Int {
	n, ok := new(big.Int).SetString(x, p.radix)
	if !ok {
		panic("not a numeral: " + x)
	}
	return n
}

func (p plainFF1) str(m int, n *big.Int) string {
	s := n.Text(p.radix)
	for len(s) < m {
		s = "0" + s
	}
	return s
}

// The samples that NIST publishes for FF1.
func TestPlainFF1AgainstNIST(t *testing.T) {
	const (
		key128 = "2B7E151628AED2A6ABF7158809CF4F3C"
		key192 = key128 + "EF4359D8D580AA4F"
		key256 = key192 + "7F036D6F04FC6A94"

		digits  = "0123456789"
		letters = "0123456789abcdefghi"
		tweak10 = "39383736353433323130"
		tweak36 = "3737373770717273373737"
	)
	for i, v := range []struct {
		key         string
		radix       int
		tweak       string
		plain, want string
	}{
		{key128, 10, "", digits, "2433477484"},
		{key128, 10, tweak10, digits, "6124200773"},
		{key128, 36, tweak36, letters, "a9tv40mll9kdu509eum"},
		{key192, 10, "", digits, "2830668132"},
		{key192, 10, tweak10, digits, "2496655549"},
		{key192, 36, tweak36, letters, "xbj3kv35jrawxv32ysr"},
		{key256, 10, "", digits, "6657667009"},
		{key256, 10, tweak10, digits, "1001623463"},
		{key256, 36, tweak36, letters, "xs8a0azh2avyalyzuwd"},
	} {
		p := plainFF1{unhex(t, v.key), v.radix}
		if got := p.encrypt(unhex(t, v.tweak), v.plain); got != v.want {
			t.Errorf("sample %d: %s, want %s", i+1, got, v.want)
		}
		if got := p.decrypt(unhex(t, v.tweak), v.want); got != v.plain {
			t.Errorf("sample %d back: %s, want %s", i+1, got, v.plain)
		}
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
