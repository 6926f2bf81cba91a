package cipher

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	library "golang.org/x/crypto/chacha20"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/scale"
)

// The keystreams are equal to those of the libraries, and to the example in section 2.3.2 of RFC 8439.
func TestKeystreams(t *testing.T) {
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i)
	}
	// The nonce 000000090000004a00000000 and block 1.
	got := newChaCha20(key).first(block{0x000000090000004a, 0x0000000000000001})
	if want := "10f1e7e4d13b5915"; hex.EncodeToString(binary.BigEndian.AppendUint64(nil, got)) != want {
		t.Errorf("RFC 8439: %016x, want %s", got, want)
	}
	ctr, err := newAESCTR(key, 15)
	if err != nil {
		t.Fatal(err)
	}
	encrypting, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		above := block{rand.Uint64(), rand.Uint64()}
		var text [16]byte
		binary.BigEndian.PutUint64(text[:8], above.hi)
		binary.BigEndian.PutUint64(text[8:], above.lo)
		var stream [8]byte
		c, err := library.NewUnauthenticatedCipher(key, text[:12])
		if err != nil {
			t.Fatal(err)
		}
		c.SetCounter(uint32(above.lo))
		c.XORKeyStream(stream[:], stream[:])
		if got, want := newChaCha20(key).first(above), binary.BigEndian.Uint64(stream[:]); got != want {
			t.Fatalf("chacha20 of %x: %016x, the library says %016x", text, got, want)
		}
		stream = [8]byte{}
		cipher.NewCTR(encrypting, text[:]).XORKeyStream(stream[:], stream[:])
		if got, want := ctr.first(above), binary.BigEndian.Uint64(stream[:]); got != want {
			t.Fatalf("aes-ctr of %x: %016x, the library says %016x", text, got, want)
		}
	}
}

const allCiphers = `
current: 1
keys:
  - version: 1
    key: 2b7e151628aed2a6abf7158809cf4f3c
  - version: 2
    cipher: chacha20
    key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94
  - version: 3
    cipher: aes-ctr
    key: 2b7e151628aed2a6abf7158809cf4f3c
  - version: 4
    cipher: aes-ctr
    bits: 42
    key: 2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94
`

// A million random IDs of each cipher and layout decode to the original. Gene and key version stay readable,
// and bits that a cipher does not hide stay unchanged.
func TestAMillionIDsComeBack(t *testing.T) {
	ring, err := Parse([]byte(allCiphers))
	if err != nil {
		t.Fatal(err)
	}
	ids := scale.Quick(30_000, 1_000_000)
	if raceEnabled {
		ids = 20_000
	}
	hidden := map[uint32]uint64{2: 1<<15 - 1, 3: 1<<15 - 1, 4: 1<<42 - 1}
	for _, l := range orderid.Layouts() {
		if l.VersionBits() == 0 {
			continue
		}
		for _, version := range ring.Versions() {
			t.Run(l.Name()+"/"+ring.Cipher(version), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(1, uint64(version)))
				changed := 0
				for range ids {
					limit := l.MaxSequence()
					s := orderid.Sequence{Hi: random.Uint64() & limit.Hi, Lo: random.Uint64() & limit.Lo}
					id, err := l.Compose(gene.Gene(random.Uint32())&l.GeneWidth().Last(), version, s)
					if err != nil {
						t.Fatal(err)
					}
					number, err := ring.Encode(l, id)
					if err != nil {
						t.Fatal(err)
					}
					if back, err := ring.Decode(l, number); err != nil || back != id {
						t.Fatalf("%s becomes %s and comes back as %s, %v", id, number, back, err)
					}
					if l.Gene(number) != l.Gene(id) || l.Version(number) != version {
						t.Fatalf("%s becomes %s: gene or version changed", id, number)
					}
					if mask, partly := hidden[version]; partly && (number.Hi != id.Hi || (number.Lo^id.Lo)&^mask != 0) {
						t.Fatalf("%s becomes %s: bits above the hidden ones changed", id, number)
					}
					if number != id {
						changed++
					}
				}
				if changed < ids*99/100 {
					t.Errorf("%d of %d IDs were hidden", changed, ids)
				}
			})
		}
	}
}

// Within a window of one key's all numbers differ.
func TestAWindowIsABijection(t *testing.T) {
	ring, err := Parse([]byte(allCiphers))
	if err != nil {
		t.Fatal(err)
	}
	l, err := orderid.ByName("int64")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range ring.Versions() {
		seen := map[orderid.ID]bool{}
		for s := range uint64(1 << 16) {
			id, err := l.Compose(0x3eab, version, orderid.Seq(s))
			if err != nil {
				t.Fatal(err)
			}
			number, err := ring.Encode(l, id)
			if err != nil || seen[number] {
				t.Fatalf("version %d: %s twice, %v", version, number, err)
			}
			seen[number] = true
		}
	}
}
