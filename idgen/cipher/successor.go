package cipher

import (
	"fmt"
	"slices"
)

// CheckSuccessor returns an error if next must not replace this ring in a running process, because next could not decode all
// IDs of this ring, or would decode them to other orders. A version that next lists as retired may be missing, unless it is
// inUse.
func (r *Ring) CheckSuccessor(next *Ring, inUse uint32) error {
	for _, version := range r.Versions() {
		switch {
		case next.keys[version] != nil && next.Fingerprint(version) != r.Fingerprint(version):
			return fmt.Errorf("key ring: version %d has another key or cipher than before, by which its numbers would decode to other orders: "+
				"put the key back; if none of its numbers is in use, restart the process", version)
		case next.keys[version] != nil:
		case version == inUse:
			return fmt.Errorf("key ring: version %d is gone, and new numbers are hidden by it: put its key back, and rotate before it is retired", version)
		case !slices.Contains(next.retired, version):
			return fmt.Errorf("key ring: version %d is gone, and is not listed as retired: put its key back, or retire it by locus keys retire %d", version, version)
		}
	}
	return nil
}
