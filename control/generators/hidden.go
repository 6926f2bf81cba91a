package generators

import (
	"context"
	"fmt"

	"locus/idgen/cipher"
)

// pinKey binds a format to the key that hides its sequence, forever. The first process records the key's
// fingerprint in etcd. A process whose key ring has another key under that version makes no texts, because two
// sequences could produce the same text.
func (m maker) pinKey(ctx context.Context, name string, version uint32) error {
	ring := m.options.Ring()
	if ring == nil {
		ring = &cipher.Ring{}
	}
	if _, err := ring.HideDigits(version, cipher.FewestDigits, "", 0); err != nil {
		return fmt.Errorf("hidden=%d: %w", version, err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	key, mine := fmt.Sprintf("generator/%s/keys/%05d", name, version), ring.Fingerprint(version)
	for {
		pinned, revision, err := m.options.KV.Get(ctx, key)
		switch {
		case err != nil:
			return fmt.Errorf("pin key version %d: %w", version, err)
		case revision != 0 && string(pinned) == mine:
			return nil
		case revision != 0:
			return fmt.Errorf("hidden=%d: its texts were made by another key of that version, and could repeat: put that key back into the key ring, or declare a generator of another name", version)
		}
		if _, err := m.options.KV.CompareAndSwap(ctx, key, 0, []byte(mine)); err != nil {
			return fmt.Errorf("pin key version %d: %w", version, err)
		} // read again: another process may have written first
	}
}
