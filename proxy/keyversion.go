package proxy

import (
	"context"
	"errors"
	"fmt"

	"locus/idgen/cipher"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/router/catalog"
)

// PinKeyVersion returns the key version of a table's new IDs, if version is the cluster's. It returns 0 if the table has no
// hidden numbers. It also fixes the effect of the version on the IDs, by a record next to the table's counters in the store.
func PinKeyVersion(ctx context.Context, store *segment.CASStore, d catalog.Declaration, ring *cipher.Ring, version uint32) (uint32, error) {
	does, err := effectOf(d, ring, version)
	if err != nil || does == "" {
		return 0, err
	}
	return version, store.PinVersion(ctx, version, does)
}

// CheckKeyVersion returns the error that an INSERT into the table would get if the cluster's key version was version. It writes
// nothing.
func CheckKeyVersion(ctx context.Context, store *segment.CASStore, d catalog.Declaration, ring *cipher.Ring, version uint32) error {
	does, err := effectOf(d, ring, version)
	if err != nil || does == "" {
		return err
	}
	return store.CheckVersion(ctx, version, does)
}

// effectOf returns the effect of a key version on the IDs of a table, or "" if the table has no hidden numbers.
func effectOf(d catalog.Declaration, ring *cipher.Ring, version uint32) (string, error) {
	hiding := d.Hiding()
	switch {
	case hiding == catalog.InPlace && ring == nil:
		return "", errors.New("they are hidden, and there is no key ring to hide them with: name one in the configuration as key_ring: no ID was issued")
	case hiding == catalog.InClear || ring == nil:
		return "", nil
	case version == 0:
		return "", errors.New("which key version hides them is not known yet, since etcd could not be asked: no ID was issued")
	case ring.Fingerprint(version) == "":
		return "", fmt.Errorf("key version %d hides them, and is not in the key ring: bring the current ring to this process: no ID was issued", version)
	}
	if l, err := orderid.ByName(d.ID.Layout); err == nil && version > l.MaxVersion() {
		return "", fmt.Errorf("key version %d is beyond %d, the last one of layout %s: retire a version and give it to a new key", version, l.MaxVersion(), l)
	}
	if hiding == catalog.InPlace {
		return "hidden by key " + ring.Fingerprint(version), nil
	}
	return "in clear", nil
}

// StampWith makes new IDs carry another key version, which the ring must contain. A table that has been stamped continues with the
// former version until the effect of the new one is pinned. The error names the tables for which it isn't pinned. The caller calls
// StampWith again then. Stamping with the former version does no harm, because every process that reads the new one reads the
// former one as well.
func (p *Proxy) StampWith(ctx context.Context, version uint32) error {
	return p.ids.setVersion(ctx, version)
}

// HidesIDs reports whether IDs of a declared table are hidden, in the IDs themselves or in order numbers.
func (p *Proxy) HidesIDs() bool {
	for _, d := range p.live.Load().declared.Tables {
		if d.Hiding() != catalog.InClear {
			return true
		}
	}
	return false
}
