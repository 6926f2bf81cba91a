package cipher

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"locus/idgen/orderid"
)

// stream hides the low n bits of the sequence number. It adds a keystream that depends on all bits above them, so IDs with
// different upper bits have unrelated keystreams. The 2ⁿ IDs of one window have the same upper bits and share a keystream.
// Their order within the window is hidden, but the window itself is not.
type stream struct {
	n    uint8 // number of hidden bits
	name string
	// first returns the first 8 bytes of the keystream, big-endian, for the bits above: the ID as 16 big-endian bytes
	// with the hidden bits 0.
	first func(above block) uint64
}

// streamBits is the default number of bits that a stream hides.
const streamBits = 15

func (s *stream) hide(_ orderid.Layout, id orderid.ID) orderid.ID {
	mask := uint64(1)<<s.n - 1
	above := block{id.Hi, id.Lo &^ mask}
	id.Lo ^= s.first(above) >> (64 - s.n)
	return id
}

func (s *stream) reveal(l orderid.Layout, id orderid.ID) orderid.ID { return s.hide(l, id) }

// Format prints no key, under any verb.
func (s *stream) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.name) }

// newAESCTR takes an AES key of 16, 24 or 32 bytes. The counter block is the bits above.
func newAESCTR(key []byte, n uint8) (*stream, error) {
	encrypting, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return &stream{n, "aes-ctr", func(above block) uint64 { return encryptBlock(encrypting, above) }}, nil
}

func encryptBlock(c cipher.Block, in block) uint64 {
	buf := scratch.Get().(*[16]byte)
	defer scratch.Put(buf)
	binary.BigEndian.PutUint64(buf[:8], in.hi)
	binary.BigEndian.PutUint64(buf[8:], in.lo)
	c.Encrypt(buf[:], buf[:])
	return binary.BigEndian.Uint64(buf[:8])
}

// newChaCha20 takes a key of 32 bytes. The first 12 of the 16 bytes of the bits above are the nonce. The last 4,
// big-endian, are the block counter.
func newChaCha20(key []byte) *stream {
	var k [8]uint32
	for i := range k {
		k[i] = binary.LittleEndian.Uint32(key[4*i:])
	}
	return &stream{streamBits, "chacha20", func(above block) uint64 { return chacha20(&k, above) }}
}

// chacha20 returns the first 8 bytes of a block of RFC 8439 as a big-endian number.
func chacha20(key *[8]uint32, above block) uint64 {
	le := bits.ReverseBytes32
	in := [16]uint32{
		0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, // "expand 32-byte k"
		key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
		uint32(above.lo), le(uint32(above.hi >> 32)), le(uint32(above.hi)), le(uint32(above.lo >> 32)),
	}
	x := in
	for range 10 {
		quarter(&x, 0, 4, 8, 12)
		quarter(&x, 1, 5, 9, 13)
		quarter(&x, 2, 6, 10, 14)
		quarter(&x, 3, 7, 11, 15)
		quarter(&x, 0, 5, 10, 15)
		quarter(&x, 1, 6, 11, 12)
		quarter(&x, 2, 7, 8, 13)
		quarter(&x, 3, 4, 9, 14)
	}
	return uint64(le(x[0]+in[0]))<<32 | uint64(le(x[1]+in[1]))
}

func quarter(x *[16]uint32, a, b, c, d int) {
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 16)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 12)
	x[a] += x[b]
	x[d] = bits.RotateLeft32(x[d]^x[a], 8)
	x[c] += x[d]
	x[b] = bits.RotateLeft32(x[b]^x[c], 7)
}
