// Package cipher converts order IDs to order numbers and back. The gene and the key version remain readable, and the
// sequence number is hidden. So a number printed on a parcel can be routed but doesn't reveal how many orders there
// are.
//
// It owns the key ring (its file and versions) and the ciphers. It never issues an ID. It never reveals a key in
// errors, logs or any fmt verb. It keeps keys only in its own memory and in the file that Create writes.
//
// Each cipher is a bijection on the bits that it hides, so distinct order IDs become distinct order numbers. It hides
// but doesn't authenticate: any number decodes to some order ID, which may not exist.
package cipher

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/idgen/orderid"
)

// Ring maps versions to keys. It is immutable and safe for concurrent use. The zero value has no keys: it hides
// nothing, and its current version is 0.
type Ring struct {
	current uint32 // a version in keys, or 0 if there is none
	keys    map[uint32]bijection
	retired []uint32 // versions whose keys were removed, and which other keys don't get
}

// bijection hides sequence bits with one key. Each cipher is an implementation.
type bijection interface {
	// hide permutes the sequence bits of the ID and keeps all others; reveal is its inverse. They never fail or
	// allocate. The layout must have a key version.
	hide(l orderid.Layout, id orderid.ID) orderid.ID
	reveal(l orderid.Layout, id orderid.ID) orderid.ID
}

// Current returns the key version for new IDs.
func (r *Ring) Current() uint32 { return r.current }

// Versions returns the ring's key versions in ascending order.
func (r *Ring) Versions() []uint32 { return slices.Sorted(maps.Keys(r.keys)) }

// Retired returns the versions whose keys were removed.
func (r *Ring) Retired() []uint32 { return slices.Clone(r.retired) }

// Next returns the version after the highest ever used.
func (r *Ring) Next() uint32 { return slices.Max(append(r.Versions(), r.retired...)) + 1 }

// Cipher returns the name of the cipher of a version.
func (r *Ring) Cipher(version uint32) string {
	if key := r.keys[version]; key != nil {
		return fmt.Sprint(key)
	}
	return ""
}

// Fingerprint identifies the key and cipher of a version without revealing the key. It is empty if there is no key.
func (r *Ring) Fingerprint(version uint32) string {
	key := r.keys[version]
	if key == nil {
		return ""
	}
	sum := sha256.New()
	for window := range uint64(64) {
		sample, err := wide.Compose(0, version, orderid.Seq(window<<32|1))
		if err != nil {
			return ""
		}
		sum.Write(wide.AppendBytes(nil, key.hide(wide, sample)))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// wide is a layout with room for every version.
var wide, _ = orderid.ByName("bytes16")

// Encode returns the order number of an order ID, under the ID's key version. Version 0 hides nothing. It doesn't
// allocate.
func (r *Ring) Encode(l orderid.Layout, id orderid.ID) (orderid.ID, error) {
	key, err := r.keyOf(l, id)
	if err != nil {
		return orderid.ID{}, fmt.Errorf("encode order ID %s: %w", id, err)
	}
	if key == nil {
		return id, nil
	}
	return key.hide(l, id), nil
}

// Decode returns the order ID of an order number, under the number's key version. It doesn't allocate.
func (r *Ring) Decode(l orderid.Layout, number orderid.ID) (orderid.ID, error) {
	key, err := r.keyOf(l, number)
	if err != nil {
		return orderid.ID{}, fmt.Errorf("decode order number %s: %w", number, err)
	}
	if key == nil {
		return number, nil
	}
	return key.reveal(l, number), nil
}

// keyOf returns the key of the ID's version, or nil for version 0.
func (r *Ring) keyOf(l orderid.Layout, id orderid.ID) (bijection, error) {
	if err := carries(l); err != nil {
		return nil, err
	}
	version := l.Version(id)
	if version == 0 {
		return nil, nil
	}
	key, ok := r.keys[version]
	if !ok {
		return nil, &UnknownVersionError{version, r.Versions(), slices.Contains(r.retired, version)}
	}
	return key, nil
}

func carries(l orderid.Layout) error {
	if l.VersionBits() == 0 {
		return fmt.Errorf("layout %s has no bits for a key version, so it has no order numbers: use layout int64 or bytes16", l)
	}
	return nil
}

// UnknownVersionError means that an ID was hidden with a key that the ring doesn't have.
type UnknownVersionError struct {
	Version uint32
	Known   []uint32
	Retired bool
}

func (e *UnknownVersionError) Error() string {
	known := "no version"
	if len(e.Known) > 0 {
		known = "only " + strings.Trim(fmt.Sprint(e.Known), "[]")
	}
	if e.Retired {
		return fmt.Sprintf("key version %d is retired: its key is gone, and with it what it hid", e.Version)
	}
	return fmt.Sprintf("key version %d is not in the key ring, which has %s: add the key of version %d to the ring file",
		e.Version, known, e.Version)
}

// Format prints the versions and no key, under any verb.
func (r Ring) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "key ring of versions %v, current %d", r.Versions(), r.current)
}
