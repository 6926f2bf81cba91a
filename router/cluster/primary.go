package cluster

import (
	"time"

	"locus/router"
)

// Primary says which server of a shard is written to. It is a document of its own,
// apart from the route map, so that no map of before brings a former primary back.
// It is replaced by compare-and-swap alone, and each version has the next epoch:
// proxies tell which one they obey.
//
//	settled ── Hold ──▶ held ── Turn ──▶ turned ── Settle ──▶ settled, with another server
//	   ▲                 │  └─ Release ─▶ broken off
//	   └──── Settle ─────┴──────────────────┘
//
// Leave does what Hold does, for a server that is the primary already.
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
	// Cause is why Next is to become the primary.
	Cause Cause `yaml:"cause,omitempty"`
	// Alone has Server acknowledge what no replica has: somebody has ordered it, until one is back. It ends with
	// any change of the primary that is begun.
	Alone bool `yaml:"alone,omitempty"`
	// By is who wrote this version.
	By string `yaml:"by,omitempty"`
}

// Cause is why another server of a shard becomes its primary.
type Cause string

const (
	Ordered Cause = ""      // somebody has ordered a switchover, in which both servers play a part
	Found   Cause = "found" // somebody else has made it the primary already
	Taken   Cause = "taken" // somebody has said so, whatever there is of the one before
	Lost    Cause = "lost"  // most proxies don't reach the one before, and this one has all
)

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

// Leave begins to go over to a server that was found to be the primary, or is taken as it:
// proxies give up the one before at once.
func (p Primary) Leave(next string, why Cause, by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Next: next, Held: true, Cause: why, By: by}
}

// Again is the next version that says the same: whoever would replace this one can't any more.
func (p Primary) Again(by string) Primary {
	p.Epoch++
	p.By = by
	return p
}

// Turn makes Next the primary of one that is held. Of one that was found nothing is left to
// do: whoever has made it the primary sees to the others.
func (p Primary) Turn(by string) Primary {
	next := Primary{Epoch: p.Epoch + 1, Server: p.Next, Former: p.Server, By: by}
	if p.Cause == Found {
		next.Former = ""
	}
	return next
}

// Release lets the proxies go on with Server, and leaves it to others to undo what
// was done to the servers.
func (p Primary) Release(by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Next: p.Next, Cause: p.Cause, By: by}
}

// Settle ends what is under way: the servers are what the document says.
func (p Primary) Settle(by string) Primary {
	return Primary{Epoch: p.Epoch + 1, Server: p.Server, Alone: p.Alone, By: by}
}

// GoOn has the primary go on without replicas, of one that nothing is under way of.
func (p Primary) GoOn(by string) Primary {
	p = p.Again(by)
	p.Alone = true
	return p
}

// WaitAgain ends that.
func (p Primary) WaitAgain(by string) Primary {
	p = p.Again(by)
	p.Alone = false
	return p
}

// PrimaryLease is for how long after a question to etcd a proxy goes by the answer, where
// the primary may change without it: see [Shard.Leased]. Whoever changes it waits for that
// long, and the margin: clocks don't run alike.
const (
	PrimaryLease       = 2 * time.Second
	PrimaryLeaseMargin = 500 * time.Millisecond
)

// Leases tells whether there are such shards.
func (c *Cluster) Leases() bool {
	for _, s := range c.Shards {
		if s.Leased() {
			return true
		}
	}
	return false
}
