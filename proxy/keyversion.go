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

// PinKeyVersion gives the version that new IDs of a table carry where the cluster's is
// version: 0 where nothing is hidden. What it does to them is pinned beside their
// counters, which are the store's.
func PinKeyVersion(ctx context.Context, store *segment.CASStore, d catalog.Declaration, ring *cipher.Ring, version uint32) (uint32, error) {
	does, err := doesTo(d, ring, version)
	if err != nil || does == "" {
		return 0, err
	}
	return version, store.PinVersion(ctx, version, does)
}

// CheckKeyVersion is the error that an INSERT into the table would meet if the
// cluster's version was version. Nothing is written.
func CheckKeyVersion(ctx context.Context, store *segment.CASStore, d catalog.Declaration, ring *cipher.Ring, version uint32) error {
	does, err := doesTo(d, ring, version)
	if err != nil || does == "" {
		return err
	}
	return store.CheckVersion(ctx, version, does)
}

// doesTo says what a key version does to the IDs of a table; "" where they have none.
func doesTo(d catalog.Declaration, ring *cipher.Ring, version uint32) (string, error) {
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

// StampWith has new IDs carry another key version, which the ring has. Those of tables
// that have been stamped so far go on with the version before until what the new one
// does to them is pinned: an error says of which it isn't; call it again then. To
// stamp with the one before does no harm: whoever reads the new one reads it as well.
func (p *Proxy) StampWith(ctx context.Context, version uint32) error { return p.ids.use(ctx, version) }

// HidesIDs tells whether IDs of a declared table are hidden, by themselves or in order
// numbers.
func (p *Proxy) HidesIDs() bool {
	for _, d := range p.live.Load().declared.Tables {
		if d.Hiding() != catalog.InClear {
			return true
		}
	}
	return false
}
