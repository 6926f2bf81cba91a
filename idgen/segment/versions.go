package segment

import (
	"context"
	"fmt"
)

// PinVersion fixes forever what a key version does to the IDs of these counters. does is a text such as "in clear" or a key's
// fingerprint. The first process writes it. PinVersion returns an error to a process that uses the version in another way.
// Otherwise two sequence numbers could become the same ID, if one was hidden and the other was not, or if they were hidden by
// different keys.
func (s *CASStore) PinVersion(ctx context.Context, version uint32, does string) error {
	key := s.versionKey(version)
	value, err := s.pinned(ctx, key, versionRecord{Does: does, By: s.who, At: s.now().UTC()})
	if err != nil {
		return fmt.Errorf("pin key version %d: %w", version, err)
	}
	return samePinned(key, value, version, does)
}

// CheckVersion returns PinVersion's error without pinning anything.
func (s *CASStore) CheckVersion(ctx context.Context, version uint32, does string) error {
	key := s.versionKey(version)
	value, revision, err := s.kv.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("look at key version %d: read %s: %w", version, key, err)
	}
	if revision == 0 {
		return nil
	}
	return samePinned(key, value, version, does)
}

func (s *CASStore) versionKey(version uint32) string {
	return fmt.Sprintf("%skeys/%05d", s.prefix, version)
}

func samePinned(key string, value []byte, version uint32, does string) error {
	var pin versionRecord
	if err := decode(value, &pin); err != nil {
		return fmt.Errorf("pin key version %d: %s: %w", version, key, err)
	}
	if pin.Does != does {
		return fmt.Errorf("key version %d: IDs of it are %s since %s, and are now to be %s, by which IDs could repeat: "+
			"rotate the key ring to a version that these IDs never had (locus keys rotate): no ID was issued",
			version, pin.Does, pin.At.Format("2006-01-02 15:04:05Z"), does)
	}
	return nil
}
