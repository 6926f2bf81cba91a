package fleet

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"locus/idgen/cipher"
)

// Keys describes a process's key ring on its card. It contains no key.
type Keys struct {
	Versions []KeyVersion `json:"versions"`          // ascending; empty if it has no key ring
	Stamps   uint32       `json:"stamps,omitempty"`  // the version of new IDs; 0 if unknown or none
	Since    time.Time    `json:"since,omitzero"`    // when that version became the cluster's
	Refused  string       `json:"refused,omitempty"` // why it does not adopt the keys of its file
}

// KeyVersion is a version of the key ring, with a fingerprint of its key.
type KeyVersion struct {
	Version     uint32 `json:"version"`
	Fingerprint string `json:"fingerprint"`
	Cipher      string `json:"cipher,omitempty"` // older builds don't report it
}

// KeysOf describes a key ring, which may be nil.
func KeysOf(ring *cipher.Ring) Keys {
	var k Keys
	if ring != nil {
		for _, v := range ring.Versions() {
			k.Versions = append(k.Versions, KeyVersion{v, ring.Fingerprint(v), ring.Cipher(v)})
		}
	}
	return k
}

// Fingerprint returns the fingerprint of a version, or "" if the process lacks the version.
func (k Keys) Fingerprint(version uint32) string {
	if at := slices.IndexFunc(k.Versions, func(v KeyVersion) bool { return v.Version == version }); at >= 0 {
		return k.Versions[at].Fingerprint
	}
	return ""
}

// String returns the list of versions.
func (k Keys) String() string {
	var list []string
	for _, v := range k.Versions {
		list = append(list, fmt.Sprint(v.Version))
	}
	return strings.Join(list, ",")
}

// Showing publishes the card of this process. It is safe for concurrent use.
type Showing struct {
	show func([]byte)
	mu   sync.Mutex // guards the following fields; held while the card is published, so that the newest card is written last
	card Card
	text []byte // as last published
}

// Show returns a Showing that publishes changes by a function such as etcd.Presence's Set. The card itself must
// be published already.
func Show(card Card, show func([]byte)) *Showing {
	return &Showing{show: show, card: card, text: card.Text()}
}

// Change applies a change and publishes the card if it differs. Each publication is a write to etcd, which
// delays the next one.
func (s *Showing) Change(change func(*Card)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.card)
	if text := s.card.Text(); !bytes.Equal(text, s.text) {
		s.text = text
		s.show(text)
	}
}
