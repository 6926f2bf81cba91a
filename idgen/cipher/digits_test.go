package cipher

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/internal/test/scale"
)

const nistKeys = `current: 1
keys:
  - {version: 1, key: 2b7e151628aed2a6abf7158809cf4f3c}
  - {version: 2, key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f}
  - {version: 3, key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94}
  - {version: 4, cipher: chacha20, key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94}
retired: [9]
`

// The samples of radix 10 that NIST publishes.
func TestDigitsAgainstNIST(t *testing.T) {
	ring := mustParse(t, nistKeys)
	for _, v := range []struct {
		version uint32
		tweak   string
		want    uint64
	}{
		{1, "", 2433477484},
		{1, "9876543210", 6124200773},
		{2, "", 2830668132},
		{2, "9876543210", 2496655549},
		{3, "", 6657667009},
		{3, "9876543210", 1001623463},
	} {
		if got, err := ring.HideDigits(v.version, 10, v.tweak, 123456789); got != v.want || err != nil {
			t.Errorf("version %d, tweak %q: %d, %v, want %d", v.version, v.tweak, got, err, v.want)
		}
		if got, err := ring.RevealDigits(v.version, 10, v.tweak, v.want); got != 123456789 || err != nil {
			t.Errorf("version %d, tweak %q: %d is revealed as %d, %v", v.version, v.tweak, v.want, got, err)
		}
	}
}

func TestDigitsAgainstPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "key")
		digits := rapid.IntRange(FewestDigits, MostDigits).Draw(t, "digits")
		tweak := rapid.StringN(0, 40, 80).Draw(t, "tweak")
		n := rapid.Uint64Range(0, tens[digits]-1).Draw(t, "n")
		fast, err := newFF1(key)
		if err != nil {
			t.Fatal(err)
		}
		want := plainFF1{key, 10}.encrypt([]byte(tweak), fmt.Sprintf("%0*d", digits, n))
		hidden := fast.hideDigits(digits, tweak, n)
		if got := fmt.Sprintf("%0*d", digits, hidden); got != want {
			t.Fatalf("%d of %d digits: %s, plain %s", n, digits, got, want)
		}
		if back := fast.revealDigits(digits, tweak, hidden); back != n {
			t.Fatalf("%d of %d digits is revealed as %d", n, digits, back)
		}
	})
}

// With six digits, each number is hidden as a different one. The test covers all numbers.
func TestHiddenDigitsAreDistinct(t *testing.T) {
	ring, seen := mustParse(t, nistKeys), make([]bool, tens[6])
	for n := uint64(0); n < tens[6]; n += scale.Quick(uint64(17), 1) {
		hidden, err := ring.HideDigits(1, 6, "2026", n)
		if err != nil || seen[hidden] {
			t.Fatalf("%d is hidden as %d, as another one is, %v", n, hidden, err)
		}
		seen[hidden] = true
	}
}

func TestDigitsThatCantBeHidden(t *testing.T) {
	ring := mustParse(t, nistKeys)
	for _, c := range []struct {
		ring    *Ring
		version uint32
		digits  int
		n       uint64
		reason  string
	}{
		{ring, 1, 5, 1, "6 to 19"},
		{ring, 1, 20, 1, "6 to 19"},
		{ring, 1, 6, 1_000_000, strconv.Itoa(1_000_000) + " has more"},
		{ring, 4, 6, 1, "of cipher chacha20"},
		{ring, 7, 6, 1, "key version 7 is not in the key ring"},
		{ring, 9, 6, 1, "key version 9 is retired"},
		{nil, 1, 6, 1, "has no version"},
	} {
		if n, err := c.ring.HideDigits(c.version, c.digits, "", c.n); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%d of %d digits under %d: %d, %v, want %q", c.n, c.digits, c.version, n, err, c.reason)
		}
	}
}
