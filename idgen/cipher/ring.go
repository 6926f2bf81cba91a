// Package cipher turns order IDs into order numbers and back: the gene and the
// key version stay readable, the sequence is hidden, so that a number printed
// on a parcel can be routed and tells nobody how many orders there are.
//
// It owns the key ring (its file, its versions) and the ciphers. It never
// issues an ID, never shows a key (not in errors, logs or any fmt verb), and
// never keeps keys anywhere but in its own memory and the file that Create
// writes.
//
// Each cipher is a bijection on the bits that it hides, so distinct order IDs
// become distinct order numbers. It hides; it does not authenticate: any
// number decodes to some order ID, which may not exist.
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

// Ring is the keys by version. It is immutable and safe for concurrent use.
// The zero value has no key: it hides nothing and its current version is 0.
type Ring struct {
	current uint32 // a version of keys, or 0 if there is none
	keys    map[uint32]bijection
	retired []uint32 // versions whose keys are gone, and which are not given to other keys
}

// bijection hides sequence bits under one key. A cipher is one implementation.
type bijection interface {
	// hide permutes the sequence bits of the ID and leaves all others; reveal
	// undoes it. Neither can fail or allocates. The layout has a key version.
	hide(l orderid.Layout, id orderid.ID) orderid.ID
	reveal(l orderid.Layout, id orderid.ID) orderid.ID
}

// Current is the key version for new IDs.
func (r *Ring) Current() uint32 { return r.current }

// Versions is the key versions of the ring, ascending.
func (r *Ring) Versions() []uint32 { return slices.Sorted(maps.Keys(r.keys)) }

// Retired is the versions whose keys are gone.
func (r *Ring) Retired() []uint32 { return slices.Clone(r.retired) }

// Next is the version after the highest that ever was.
func (r *Ring) Next() uint32 { return slices.Max(append(r.Versions(), r.retired...)) + 1 }

// Cipher names what hides under a version of the ring.
func (r *Ring) Cipher(version uint32) string {
	if key := r.keys[version]; key != nil {
		return fmt.Sprint(key)
	}
	return ""
}

// Fingerprint tells what hides under a version from what another key or cipher does.
// It tells nothing of the key, and is empty where there is none.
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

// wide is a layout that carries every version.
var wide, _ = orderid.ByName("bytes16")

// Encode is the order number of an order ID, under the key version that the ID
// carries. Version 0 hides nothing. It does not allocate.
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

// Decode is the order ID of an order number, under the key version that the
// number carries. It does not allocate.
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

// keyOf is the key of the ID's version: nil for version 0.
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

// UnknownVersionError says that an ID was hidden under a key that the ring
// does not have.
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

// Format prints the versions and no key, under every verb.
func (r Ring) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "key ring of versions %v, current %d", r.Versions(), r.current)
}
