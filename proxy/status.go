package proxy

import (
	"slices"
	"time"

	"locus/proxy/backend"
	"locus/proxy/health"
	"locus/proxy/kept"
	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/proxy/session"
	"locus/proxy/twophase"
	"locus/router"
	"locus/router/catalog"
	"locus/router/live"
)

// Status is the state of a proxy for health checks, metrics and operators.
type Status struct {
	Live       live.Status
	MapVersion int64
	Sessions   int
	Memory     *kept.Memory
	Accepted   uint64
	Refused    uint64 // number of clients turned away because of the limit
	Draining   bool
	Stopping   Stopping          // zero unless Draining
	Problems   error             // declared tables that can't be served
	LockedOut  map[string]string // users who can't log in, and why
	Pools      map[router.ShardName]backend.Stats
	Replicas   []backend.ReplicaStats
	Servers    []health.Status
	Counts     *session.Counts
	Slow       *meter.Slow
	Meter      *meter.Meter // nil: nothing is counted
	IDs        []IDs        // for the tables for which this process has issued IDs
	// Mirrored contains the results of mirrored reads, by job.
	Mirrored map[string]mirror.Report
	// Recovery is nil unless transactions are committed in two phases.
	Recovery *twophase.Counts
}

// Stopping is the schedule of a proxy that stops.
type Stopping struct {
	Since      time.Time // when it stopped being ready
	PortCloses time.Time // when it stops accepting clients
}

// Status returns the current state.
func (p *Proxy) Status() Status {
	s := Status{
		Live: p.live.Status(), Sessions: p.sessions.len(), Memory: p.services.Memory, Accepted: p.accepted.Load(), Refused: p.refused.Load(),
		Draining: p.drained.Load(), Pools: map[router.ShardName]backend.Stats{}, Counts: &p.counts,
		Slow: &p.meter.Slow, Meter: &p.meter, Mirrored: p.Mirrored(),
	}
	if stopping := p.stopping.Load(); stopping != nil {
		s.Stopping = *stopping
	}
	if p.coordinator != nil {
		s.Recovery = &p.coordinator.Counts
	}
	if w := p.live.Load(); w != nil {
		s.MapVersion, s.Problems = w.snapshot.Map.Version(), w.problems
		s.LockedOut = w.lockedOut
	}
	s.IDs = p.ids.status()
	s.Replicas, s.Servers = p.pools.Replicas(), p.Servers()
	for _, pool := range p.pools.Pools() {
		s.Pools[pool.Shard()] = pool.Stats()
	}
	return s
}

// Cut contains the shards whose primary etcd does not confirm, sorted by name.
type Cut struct {
	Refused []router.ShardName // statements on them are refused
	Stale   []router.ShardName // plain reads go on and may be stale, other statements are refused
	Since   time.Time
}

// Cut returns the shards on which the proxy refuses statements because etcd doesn't answer.
func (s Status) Cut() (c Cut) {
	for shard, p := range s.Pools {
		switch {
		case p.Unleased.IsZero():
			continue
		case p.StaleAllowed:
			c.Stale = append(c.Stale, shard)
		default:
			c.Refused = append(c.Refused, shard)
		}
		if c.Since.IsZero() || p.Unleased.Before(c.Since) {
			c.Since = p.Unleased
		}
	}
	slices.Sort(c.Refused)
	slices.Sort(c.Stale)
	return c
}

// Servers returns the state of the shards' servers, or nil before the proxy runs.
func (p *Proxy) Servers() []health.Status {
	known := p.health.Load()
	if known == nil {
		return nil
	}
	list := slices.Clone(known.Servers)
	for _, r := range p.pools.Replicas() {
		at := slices.IndexFunc(list, func(s health.Status) bool { return s.Replica && s.Shard == r.Shard && s.Addr == r.Addr })
		if at >= 0 && r.Err == nil {
			behind := r.Lag.Milliseconds()
			list[at].BehindMs = &behind
		}
	}
	return list
}

// Routes returns the text of the route map in force.
func (p *Proxy) Routes() string { return p.live.Load().snapshot.Map.String() }

// Map returns the route map in force.
func (p *Proxy) Map() *router.Map { return p.live.Load().snapshot.Map }

// Catalog returns the declared tables in force, with their columns on the shards.
func (p *Proxy) Catalog() *catalog.Catalog { return p.live.Load().snapshot.Catalog }
