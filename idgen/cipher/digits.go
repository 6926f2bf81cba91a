package cipher

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// Limits of the decimal digits of numbers that can be hidden. NIST SP 800-38G requires at least a million numbers. More
// digits than MostDigits don't fit in 64 bits.
const (
	FewestDigits = 6
	MostDigits   = 19
)

// OfDigits is the name of the only cipher that hides decimal digits.
const OfDigits = "ff1"

// HideDigits returns another number of the same number of decimal digits: FF1 with radix 10 under the key of a version,
// which must have cipher ff1. It is a bijection for each tweak. digits is FewestDigits to MostDigits, and n has no more.
func (r *Ring) HideDigits(version uint32, digits int, tweak string, n uint64) (uint64, error) {
	key, err := r.decimal(version, digits, n)
	if err != nil {
		return 0, fmt.Errorf("hide %d digits: %w", digits, err)
	}
	return key.hideDigits(digits, tweak, n), nil
}

// RevealDigits is the inverse of HideDigits.
func (r *Ring) RevealDigits(version uint32, digits int, tweak string, n uint64) (uint64, error) {
	key, err := r.decimal(version, digits, n)
	if err != nil {
		return 0, fmt.Errorf("reveal %d digits: %w", digits, err)
	}
	return key.revealDigits(digits, tweak, n), nil
}

func (r *Ring) decimal(version uint32, digits int, n uint64) (*ff1, error) {
	if digits < FewestDigits || digits > MostDigits {
		return nil, fmt.Errorf("%d to %d can be hidden", FewestDigits, MostDigits)
	}
	if n >= tens[digits] {
		return nil, fmt.Errorf("%d has more", n)
	}
	if r == nil {
		r = &Ring{}
	}
	switch key := r.keys[version].(type) {
	case nil:
		return nil, &UnknownVersionError{version, r.Versions(), slices.Contains(r.retired, version)}
	case *ff1:
		return key, nil
	default:
		return nil, fmt.Errorf("key version %d is of cipher %v, and %s hides digits", version, key, OfDigits)
	}
}

// tens holds the powers of ten that fit in 64 bits.
var tens = func() (list [MostDigits + 1]uint64) {
	list[0] = 1
	for i := range MostDigits {
		list[i+1] = 10 * list[i]
	}
	return list
}()

// digitRounds is FF1 with radix 10 and precomputed parameters.
type digitRounds struct {
	of     *ff1
	u, v   int // digits of the halves
	half   int // bytes of a half
	blocks []byte
	at     int // offset of the round number
	mac    [16]byte
}

// rounds prepares P and Q of the standard, one after the other:
//
//	| 1 | 2 | 1 | radix (3 bytes) | 10 | u | digits (4) | tweak's length (4) | tweak | 0 … | round (1) | half |
func (f *ff1) rounds(digits int, tweak string) *digitRounds {
	d := &digitRounds{of: f, u: digits / 2, v: digits - digits/2}
	d.half = (bits.Len64(tens[d.v]-1) + 7) / 8
	d.blocks = []byte{1, 2, 1, 0, 0, 10, ff1Rounds, byte(d.u)}
	d.blocks = binary.BigEndian.AppendUint32(d.blocks, uint32(digits))
	d.blocks = binary.BigEndian.AppendUint32(d.blocks, uint32(len(tweak)))
	d.blocks = append(d.blocks, tweak...)
	for (len(d.blocks)+1+d.half)%16 != 0 {
		d.blocks = append(d.blocks, 0)
	}
	d.at = len(d.blocks)
	d.blocks = append(d.blocks, make([]byte, 1+d.half)...)
	return d
}

// value returns the number y of a round modulo m. It uses the first 8 bytes of the CBC-MAC, or 12 if a half takes more
// than 4 bytes.
func (d *digitRounds) value(round int, half, m uint64) uint64 {
	d.blocks[d.at] = byte(round)
	var whole [8]byte
	binary.BigEndian.PutUint64(whole[:], half)
	copy(d.blocks[d.at+1:], whole[8-d.half:])
	mac := d.mac[:]
	clear(mac)
	for i := 0; i < len(d.blocks); i += 16 {
		for j := range mac {
			mac[j] ^= d.blocks[i+j]
		}
		d.of.aes.Encrypt(mac, mac)
	}
	hi := binary.BigEndian.Uint64(mac)
	if d.half <= 4 {
		return hi % m
	}
	low := uint64(binary.BigEndian.Uint32(mac[8:]))
	return bits.Rem64(hi>>32, hi<<32|low, m)
}

// modulus returns the modulus of a round, alternately for the digits of the first and the second half.
func (d *digitRounds) modulus(round int) uint64 {
	if round%2 == 0 {
		return tens[d.u]
	}
	return tens[d.v]
}

func (f *ff1) hideDigits(digits int, tweak string, n uint64) uint64 {
	d := f.rounds(digits, tweak)
	a, b := n/tens[d.v], n%tens[d.v]
	for i := range ff1Rounds {
		m := d.modulus(i)
		a, b = b, (a+d.value(i, b, m))%m
	}
	return a*tens[d.v] + b
}

func (f *ff1) revealDigits(digits int, tweak string, n uint64) uint64 {
	d := f.rounds(digits, tweak)
	a, b := n/tens[d.v], n%tens[d.v]
	for i := ff1Rounds - 1; i >= 0; i-- {
		m := d.modulus(i)
		a, b = (b+m-d.value(i, a, m))%m, a
	}
	return a*tens[d.v] + b
}
