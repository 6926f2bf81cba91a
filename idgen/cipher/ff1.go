package cipher

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"locus/idgen/orderid"
)

// ff1 is FF1 of NIST SP 800-38G for the two sizes of sequence numbers with a key version: binary strings (radix 2) of
// 42 and 84 bits. The tweak is the word of the ID with the gene, as 8 big-endian bytes, with the sequence bits 0. So
// equal sequence numbers of two genes, or under two versions, look unrelated.
//
// The standard works on numeral strings of any radix. With radix 2 and halves of equal length its byte strings are
// fixed fields of two 64-bit words, and "modulo radix^m" is a mask. A test compares this with a plain transcription.
type ff1 struct {
	aes cipher.Block
	// E(P): the first block of the CBC-MAC depends only on the sizes.
	start42, start84 block
}

// block is 16 bytes as two big-endian words.
type block struct{ hi, lo uint64 }

const (
	ff1Rounds = 10
	tweakLen  = 8
)

// newFF1 takes an AES key of 16, 24 or 32 bytes.
func newFF1(key []byte) (*ff1, error) {
	encrypting, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	f := &ff1{aes: encrypting}
	f.start42 = f.encrypt(ff1Header(42), new([16]byte))
	f.start84 = f.encrypt(ff1Header(84), new([16]byte))
	return f, nil
}

// ff1Header returns the block P of the standard's step 5:
//
//	| 1 | 2 | 1 | radix (3 bytes) | 10 | u | n (4 bytes) | tweak length (4) |
func ff1Header(n uint64) block {
	const radix = 2
	return block{1<<56 | 2<<48 | 1<<40 | radix<<16 | ff1Rounds<<8 | n/2, n<<32 | tweakLen}
}

func (f *ff1) hide(l orderid.Layout, id orderid.ID) orderid.ID {
	buf := scratch.Get().(*[16]byte)
	defer scratch.Put(buf)
	seq, clear := l.Sequence(id), l.WithSequence(id, orderid.Sequence{})
	if l.SequenceBits() == 42 {
		seq.Lo = f.hide42(seq.Lo, clear.Lo, buf)
	} else {
		seq = f.hide84(seq, clear.Hi, buf)
	}
	return l.WithSequence(id, seq)
}

func (f *ff1) reveal(l orderid.Layout, id orderid.ID) orderid.ID {
	buf := scratch.Get().(*[16]byte)
	defer scratch.Put(buf)
	seq, clear := l.Sequence(id), l.WithSequence(id, orderid.Sequence{})
	if l.SequenceBits() == 42 {
		seq.Lo = f.reveal42(seq.Lo, clear.Lo, buf)
	} else {
		seq = f.reveal84(seq, clear.Hi, buf)
	}
	return l.WithSequence(id, seq)
}

const (
	mask21 = 1<<21 - 1
	mask42 = 1<<42 - 1
)

func (f *ff1) hide42(seq, tweak uint64, buf *[16]byte) uint64 {
	a, b := seq>>21, seq&mask21
	for i := range uint64(ff1Rounds) {
		a, b = b, (a+f.round42(i, tweak, b, buf))&mask21
	}
	return a<<21 | b
}

func (f *ff1) reveal42(seq, tweak uint64, buf *[16]byte) uint64 {
	a, b := seq>>21, seq&mask21
	for i := range uint64(ff1Rounds) {
		a, b = (b-f.round42(ff1Rounds-1-i, tweak, a, buf))&mask21, a
	}
	return a<<21 | b
}

// round42 returns the number y of a round, of which the low 21 bits are used.
//
//	Q: | tweak (8 bytes) | 0 (4) | round (1) | half (3) |   S: R's first 8 bytes
func (f *ff1) round42(i, tweak, half uint64, buf *[16]byte) uint64 {
	q := block{tweak, i<<24 | half}
	return f.encrypt(block{f.start42.hi ^ q.hi, f.start42.lo ^ q.lo}, buf).hi
}

func (f *ff1) hide84(seq orderid.Sequence, tweak uint64, buf *[16]byte) orderid.Sequence {
	a, b := split84(seq)
	for i := range uint64(ff1Rounds) {
		a, b = b, (a+f.round84(i, tweak, b, buf))&mask42
	}
	return join84(a, b)
}

func (f *ff1) reveal84(seq orderid.Sequence, tweak uint64, buf *[16]byte) orderid.Sequence {
	a, b := split84(seq)
	for i := range uint64(ff1Rounds) {
		a, b = (b-f.round84(ff1Rounds-1-i, tweak, a, buf))&mask42, a
	}
	return join84(a, b)
}

// round84 returns the number y of a round, of which the low 42 bits are used. They end at S's 12th byte.
//
//	Q: | tweak (8 bytes) | 0 (1) | round (1) | half (6) |   S: R's first 12 bytes
func (f *ff1) round84(i, tweak, half uint64, buf *[16]byte) uint64 {
	q := block{tweak, i<<48 | half}
	r := f.encrypt(block{f.start84.hi ^ q.hi, f.start84.lo ^ q.lo}, buf)
	return r.hi<<32 | r.lo>>32
}

func split84(s orderid.Sequence) (a, b uint64) { return s.Hi<<22 | s.Lo>>42, s.Lo & mask42 }

func join84(a, b uint64) orderid.Sequence { return orderid.Sequence{Hi: a >> 22, Lo: a<<42 | b} }

// scratch holds blocks on the heap. An argument of an interface method escapes, so a block on the stack would be an
// allocation per round.
var scratch = sync.Pool{New: func() any { return new([16]byte) }}

func (f *ff1) encrypt(in block, buf *[16]byte) block {
	binary.BigEndian.PutUint64(buf[:8], in.hi)
	binary.BigEndian.PutUint64(buf[8:], in.lo)
	f.aes.Encrypt(buf[:], buf[:])
	return block{binary.BigEndian.Uint64(buf[:8]), binary.BigEndian.Uint64(buf[8:])}
}

// Format prints no key, under any verb.
func (f *ff1) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, OfDigits) }
