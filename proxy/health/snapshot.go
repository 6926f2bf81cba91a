package health

import (
	"time"

	"locus/router"
)

// Status is how one server is.
type Status struct {
	Shard   router.ShardName `json:"shard"`
	Addr    string           `json:"addr"`
	Replica bool             `json:"replica,omitempty"`
	State   State            `json:"state"`
	Since   time.Time        `json:"since"`
	Why     string           `json:"why,omitempty"` // it is not well
	// Silent is for how long nothing had come from it when it froze.
	Silent time.Duration `json:"silent,omitempty"`
	// Took is how long the last probe took.
	Took time.Duration `json:"took"`
	// BehindMs is how far a replica is behind, as it says itself; nil: it is none, or that isn't known.
	BehindMs *int64 `json:"behind_ms,omitempty"`
}

// Role is what a server is to its shard.
func (s Status) Role() string {
	if s.Replica {
		return "replica"
	}
	return "primary"
}

// Unwell tells a server that somebody should look at: replicas are to be read-only.
func (s Status) Unwell() bool { return s.State != Well && !(s.Replica && s.State == ReadOnly) }

// Snapshot is what is known of all servers at one moment. It is immutable; a nil one knows nothing, and everything is well.
type Snapshot struct {
	Servers []Status // by shard and address, primaries first

	unwell map[router.ShardName]State // of primaries that are neither well nor read-only
}

// State is that of the server that a shard's writes go to. It neither waits nor allocates.
func (s *Snapshot) State(shard router.ShardName) State {
	if s == nil || len(s.unwell) == 0 {
		return Well
	}
	return s.unwell[shard] // the zero state is Well
}

// Well tells whether statements that several shards could answer are best sent to this one.
func (s *Snapshot) Well(shard router.ShardName) bool { return s.State(shard) == Well }

// NewSnapshot is of servers in their order.
func NewSnapshot(list []Status) *Snapshot {
	s := &Snapshot{Servers: list, unwell: map[router.ShardName]State{}}
	for _, one := range list {
		if !one.Replica && one.State != Well && one.State != ReadOnly {
			s.unwell[one.Shard] = one.State
		}
	}
	return s
}
