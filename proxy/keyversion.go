package proxy

import (
	"context"
	"errors"

	"locus/idgen/cipher"
	"locus/idgen/segment"
	"locus/router/catalog"
)

// KeyVersion is the one that new IDs of a table carry: 0 where nothing is hidden. What
// it does to them is pinned beside their counters, which are the store's.
func KeyVersion(ctx context.Context, store *segment.CASStore, d catalog.Declaration, ring *cipher.Ring) (uint32, error) {
	version := uint32(0)
	if ring != nil {
		version = ring.Current()
	}
	does := "in clear"
	switch hiding := d.Hiding(); {
	case hiding == catalog.InClear:
		return 0, nil
	case hiding == catalog.InPlace && version == 0:
		return 0, errors.New("they are hidden, and there is no key ring to hide them with: name one in the configuration as key_ring: no ID was issued")
	case version == 0:
		return 0, nil
	case hiding == catalog.InPlace:
		does = "hidden by key " + ring.Fingerprint(version)
	}
	return version, store.PinVersion(ctx, version, does)
}
