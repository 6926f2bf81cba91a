package health

import (
	"time"

	"locus/router"
)

// Status is the state of one server.
type Status struct {
	Shard   router.ShardName `json:"shard"`
	Addr    string           `json:"addr"`
	Replica bool             `json:"replica,omitempty"`
	State   State            `json:"state"`
	Since   time.Time        `json:"since"`
	Why     string           `json:"why,omitempty"` // why it is not well
	// Silent is how long the server had sent nothing when it froze.
	Silent time.Duration `json:"silent,omitempty"`
	// Took is the duration of the last probe.
	Took time.Duration `json:"took"`
	// BehindMs is a replica's own lag. It is nil for a primary, or if unknown.
	BehindMs *int64 `json:"behind_ms,omitempty"`
}

// Role returns the server's role in its shard.
func (s Status) Role() string {
	if s.Replica {
		return "replica"
	}
	return "primary"
}

// Unwell reports whether the server needs attention. A replica is expected to be read-only.
func (s Status) Unwell() bool { return s.State != Well && !(s.Replica && s.State == ReadOnly) }

// Snapshot is the state of all servers at one moment. It is immutable. In a nil Snapshot every server is well.
type Snapshot struct {
	Servers []Status // by shard and address, primaries first

	unwell map[router.ShardName]State // primaries that are neither well nor read-only
}

// State returns the state of the shard's primary. It neither waits nor allocates.
func (s *Snapshot) State(shard router.ShardName) State {
	if s == nil || len(s.unwell) == 0 {
		return Well
	}
	return s.unwell[shard] // the zero state is Well
}

// Well reports whether the shard is a good choice for statements that several shards could answer.
func (s *Snapshot) Well(shard router.ShardName) bool { return s.State(shard) == Well }

// NewSnapshot returns the snapshot of a sorted list of servers.
func NewSnapshot(list []Status) *Snapshot {
	s := &Snapshot{Servers: list, unwell: map[router.ShardName]State{}}
	for _, one := range list {
		if !one.Replica && one.State != Well && one.State != ReadOnly {
			s.unwell[one.Shard] = one.State
		}
	}
	return s
}
