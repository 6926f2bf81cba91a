package cluster

import (
	"time"

	"locus/router"
)

// Primary is the state of a shard's primary: the server that receives writes. It is a document of its own. So restoring an earlier version of
// the route map never restores a former primary. It is replaced by compare-and-swap only, and each version has the next epoch. Proxies report
// which epoch they obey.
//
//	settled ── Hold ──▶ held ── Turn ──▶ turned ── Settle ──▶ settled, with another server
//	   ▲                 │  └─ Release ─▶ broken off
//	   └──── Settle ─────┴──────────────────┘
//
// Leave does the same as Hold, for a server that is already the primary.
//
// While it is held, no proxy sends statements to the shard. It is broken off if the process of a switchover has ended early: the proxies
// continue with Server, which may still be in read-only mode.
type Primary struct {
	Epoch  int64  `yaml:"epoch"`
	Server string `yaml:"server"`
	// Next is the server that is to become the primary; empty: no switchover is in progress.
	Next string `yaml:"next,omitempty"`
	// Held makes proxies pause the shard's statements. It is set only with Next.
	Held bool `yaml:"held,omitempty"`
	// Former is the previous primary, while it is not known to replicate from Server.
	Former string `yaml:"former,omitempty"`
	// Cause is the reason why Next is to become the primary.
	Cause Cause `yaml:"cause,omitempty"`
	// Alone makes Server acknowledge transactions that no replica has received. An operator has requested it, until a replica is back. It ends
	// with any change of the primary.
	Alone bool `yaml:"alone,omitempty"`
	// By is the author of this version.
	By string `yaml:"by,omitempty"`
}

// Cause is the reason why another server of a shard becomes its primary.
type Cause string

const (
	Ordered Cause = ""      // an operator has requested a switchover, in which both servers take part
	Found   Cause = "found" // another tool has already made it the primary
	Taken   Cause = "taken" // an operator has requested it, in whatever state the former primary is
	Lost    Cause = "lost"  // most proxies can't reach the former primary, and this server has all of its transactions
)

// Encode returns the document.
func (p Primary) Encode() []byte { return marshal(primaryDocument{Schema, p}) }

// DecodePrimary decodes a result of Encode.
func DecodePrimary(text []byte) (Primary, error) {
	var d primaryDocument
	err := decodeStrict(text, &d)
	return d.Primary, err
}

// Holds reports whether any shard is held.
func (c *Cluster) Holds() bool {
	for _, p := range c.Primaries {
		if p.Held {
			return true
		}
	}
	return false
}

// Epochs returns the epochs of all shards with several servers.
func (c *Cluster) Epochs() map[router.ShardName]int64 {
	epochs := make(map[router.ShardName]int64, len(c.Primaries))
	for name, p := range c.Primaries {
		epochs[name] = p.Epoch
	}
	return epochs
}

// Settled reports whether no switchover is in progress or broken off.
func (p Primary) Settled() bool { return p.Next == "" && p.Former == "" }

// Target returns the server that an unfinished switchover makes the primary. For one that is settled it is the primary.
func (p Primary) Target() string {
	if p.Next != "" {
		return p.Next
	}
	return p.Server
}

// BeginSwitchover returns the version that begins a switchover. p must be settled.
func (p Primary) BeginSwitchover(next, by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Next: next, Held: true, By: by}
}

// BeginChange returns the version that begins the change to a server that was found to be the primary. It also begins a change that an operator or
// locus makes without the former primary's help. Proxies stop using the former primary at once.
func (p Primary) BeginChange(next string, why Cause, by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Next: next, Held: true, Cause: why, By: by}
}

// Again returns the next version with the same content. A process that is about to replace the current version then fails.
func (p Primary) Again(by string) Primary {
	p.Epoch++
	p.By = by
	return p
}

// Promote returns the version in which Next is the primary. p must be held. If Next was found to be the primary, Former is empty: the tool that
// promoted it also changes the other servers.
func (p Primary) Promote(by string) Primary {
	next := Primary{Epoch: p.Epoch + 1, Server: p.Next, Former: p.Server, By: by}
	if p.Cause == Found {
		next.Former = ""
	}
	return next
}

// Release returns the version in which the proxies continue with Server. Undoing changes of the servers is left to another process.
func (p Primary) Release(by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Next: p.Next, Cause: p.Cause, By: by}
}

// Settle returns the version that ends a switchover: the servers have the roles of the document.
func (p Primary) Settle(by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Alone: p.Alone, By: by}
}

// WithoutReplicas returns the version in which the primary continues without replicas. p must be settled.
func (p Primary) WithoutReplicas(by string) Primary {
	p = p.Again(by)
	p.Alone = true
	return p
}

// WithReplicas returns the version in which the primary waits for a replica again.
func (p Primary) WithReplicas(by string) Primary {
	p = p.Again(by)
	p.Alone = false
	return p
}

// PrimaryLease is the time for which a proxy may rely on an answer from etcd, if the primary may change without that proxy: see
// [Shard.Leased]. A process that changes the primary waits for the lease and the margin, because clocks differ.
const (
	PrimaryLease       = 2 * time.Second
	PrimaryLeaseMargin = 500 * time.Millisecond
)

// Leases reports whether any shard is [Shard.Leased].
func (c *Cluster) Leases() bool {
	for _, s := range c.Shards {
		if s.Leased() {
			return true
		}
	}
	return false
}
