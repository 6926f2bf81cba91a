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

// Keys is what a process's card says of its key ring. It tells no key.
type Keys struct {
	Versions []KeyVersion `json:"versions"`          // ascending; none: it has no key ring
	Stamps   uint32       `json:"stamps,omitempty"`  // the version of new IDs; 0: not known yet, or none
	Since    time.Time    `json:"since,omitzero"`    // when that version became the cluster's
	Refused  string       `json:"refused,omitempty"` // why it doesn't take over what its file holds
}

// KeyVersion is a version, and a mark by which keys are told apart.
type KeyVersion struct {
	Version     uint32 `json:"version"`
	Fingerprint string `json:"fingerprint"`
	Cipher      string `json:"cipher,omitempty"` // older builds don't report it
}

// KeysOf is what is told of a ring; nil: there is none.
func KeysOf(ring *cipher.Ring) Keys {
	var k Keys
	if ring != nil {
		for _, v := range ring.Versions() {
			k.Versions = append(k.Versions, KeyVersion{v, ring.Fingerprint(v), ring.Cipher(v)})
		}
	}
	return k
}

// Fingerprint is that of a version; empty: the process can't read it.
func (k Keys) Fingerprint(version uint32) string {
	if at := slices.IndexFunc(k.Versions, func(v KeyVersion) bool { return v.Version == version }); at >= 0 {
		return k.Versions[at].Fingerprint
	}
	return ""
}

// String is the versions alone.
func (k Keys) String() string {
	var list []string
	for _, v := range k.Versions {
		list = append(list, fmt.Sprint(v.Version))
	}
	return strings.Join(list, ",")
}

// Showing is the card of this process, and who keeps it. It is safe for concurrent use.
type Showing struct {
	show func([]byte)
	mu   sync.Mutex // of what follows, and held while the card is shown, so that the last one stays
	card Card
	text []byte // as shown last
}

// Show shows a card by a function such as etcd.Presence's Set. It is there already as it is.
func Show(card Card, show func([]byte)) *Showing {
	return &Showing{show: show, card: card, text: card.Text()}
}

// Change shows the card with a change, if it is one: each showing is a write to etcd, for which the next one would wait.
func (s *Showing) Change(change func(*Card)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.card)
	if text := s.card.Text(); !bytes.Equal(text, s.text) {
		s.text = text
		s.show(text)
	}
}
