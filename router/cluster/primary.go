package cluster

import "locus/router"

// Primary says which server of a shard is written to. It is a document of its own,
// apart from the route map, so that no map of before brings a former primary back.
// It is replaced by compare-and-swap alone, and each version has the next epoch:
// proxies tell which one they obey.
//
//	settled ── Hold ──▶ held ── Turn ──▶ turned ── Settle ──▶ settled, with another server
//	   ▲                 │  └─ Release ─▶ broken off
//	   └──── Undo ───────┴──────────────────┘
//
// While it is held no proxy sends the shard anything. Broken off is a switchover
// whose process is gone: the proxies go on with Server, whose read-only mode nobody
// has taken back yet.
type Primary struct {
	Epoch  int64  `yaml:"epoch"`
	Server string `yaml:"server"`
	// Next is to become the primary; empty: no switchover is under way.
	Next string `yaml:"next,omitempty"`
	// Held has proxies hold what is for the shard. Only with Next.
	Held bool `yaml:"held,omitempty"`
	// Former was the primary, and is not known to follow Server yet.
	Former string `yaml:"former,omitempty"`
	// By is who wrote this version.
	By string `yaml:"by,omitempty"`
}

// Encode is the document.
func (p Primary) Encode() []byte { return marshal(primaryDocument{Schema, p}) }

// DecodePrimary reads what Encode wrote.
func DecodePrimary(text []byte) (Primary, error) {
	var d primaryDocument
	err := decodeStrict(text, &d)
	return d.Primary, err
}

// Holds tells whether a shard is held.
func (c *Cluster) Holds() bool {
	for _, p := range c.Primaries {
		if p.Held {
			return true
		}
	}
	return false
}

// Epochs are those of all shards with several servers.
func (c *Cluster) Epochs() map[router.ShardName]int64 {
	epochs := make(map[router.ShardName]int64, len(c.Primaries))
	for name, p := range c.Primaries {
		epochs[name] = p.Epoch
	}
	return epochs
}

// Settled tells whether no switchover is under way or broken off.
func (p Primary) Settled() bool { return p.Next == "" && p.Former == "" }

// Aim is the server that a switchover that has not ended is for.
func (p Primary) Aim() string {
	if p.Next != "" {
		return p.Next
	}
	return p.Server
}

// Hold begins a switchover of one that is settled.
func (p Primary) Hold(next, by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Next: next, Held: true, By: by}
}

// Again is the next version that says the same: whoever would replace this one can't any more.
func (p Primary) Again(by string) Primary {
	p.Epoch++
	p.By = by
	return p
}

// Turn makes Next the primary of one that is held.
func (p Primary) Turn(by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Next, Former: p.Server, By: by}
}

// Release lets the proxies go on with Server, and leaves it to others to undo what
// was done to the servers.
func (p Primary) Release(by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Next: p.Next, By: by}
}

// Settle ends what is under way: the servers are what the document says.
func (p Primary) Settle(by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, By: by}
}
