package handshake

import (
	"crypto/sha256"
	"sync"
)

// Digests remembers, for accounts of which only a hash is known, what the fast path of caching_sha2_password needs: the digest of a
// password that has been seen to be right. It is bounded, lives in memory only and may be used by many goroutines at once.
type Digests struct {
	most int

	mu     sync.Mutex
	byName map[string]remembered
}

// remembered is right for an account as long as its hash stays the same.
type remembered struct {
	hash   string
	digest [sha256.Size]byte
}

// NewDigests remembers at most that many accounts; beyond that, any of them is forgotten for a new one.
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
