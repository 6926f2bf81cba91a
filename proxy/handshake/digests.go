package handshake

import (
	"crypto/sha256"
	"sync"
)

// Digests caches verified passwords' digests for accounts known only by a hash. The fast path of caching_sha2_password needs them.
// The cache is bounded, in memory only, and safe for concurrent use.
type Digests struct {
	most int

	mu     sync.Mutex
	byName map[string]remembered
}

// remembered is valid for an account until its hash changes.
type remembered struct {
	hash   string
	digest [sha256.Size]byte
}

// NewDigests returns a cache of at most most accounts. Beyond that a new account replaces an arbitrary one.
func NewDigests(most int) *Digests {
	return &Digests{most: most, byName: map[string]remembered{}}
}

func (d *Digests) get(a Account) ([]byte, bool) {
	if d == nil {
		return nil, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.byName[a.name]
	if !ok || r.hash != a.hash {
		return nil, false
	}
	return r.digest[:], true
}

func (d *Digests) put(a Account, digest [sha256.Size]byte) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.byName[a.name]; !ok && len(d.byName) >= d.most {
		for name := range d.byName {
			delete(d.byName, name)
			break
		}
	}
	d.byName[a.name] = remembered{hash: a.hash, digest: digest}
}
