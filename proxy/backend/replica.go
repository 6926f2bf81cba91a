package backend

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locus/router"
)

const (
	// measureEvery is how often a replica's lag is measured.
	measureEvery = time.Second
	// measureTime is the time limit of one measurement.
	measureTime = time.Second
	// measured is how long a measurement is valid.
	measured = 3 * measureEvery
	// defaultMaxLag is the largest lag of a usable replica, unless its target sets another.
	defaultMaxLag = 5 * time.Second
)

// replica is a server that replicates from the shard's primary, for reads that may return older data.
type replica struct {
	pool   *Pool
	maxLag time.Duration
	state  atomic.Pointer[lag] // nil before the first measurement
}

// lag is one measurement.
type lag struct {
	behind time.Duration
	at     time.Time
	err    error // replication has stopped, or the server didn't answer
}

// usable reports whether reads may be sent to the replica.
func (r *replica) usable(now time.Time) bool {
	l := r.state.Load()
	return l != nil && l.err == nil && l.behind <= r.maxLag && now.Sub(l.at) <= measured
}

// replicas holds the replicas of one shard. It is replaced, never modified, except for turn.
type replicas struct {
	list []*replica
	turn atomic.Uint32
}

// Replica returns the pool of a usable replica of a shard, in round-robin order. It returns false if there is none,
// because all lag too far, don't replicate or don't answer.
func (r *Registry) Replica(name router.ShardName) (*Pool, bool) {
	of := (*r.replicas.Load())[name]
	if of == nil {
		return nil, false
	}
	now, first := time.Now(), of.turn.Add(1)
	for i := range of.list {
		if c := of.list[(int(first)+i)%len(of.list)]; c.usable(now) {
			return c.pool, true
		}
	}
	return nil, false
}

// ReplicaStats is a replica's state, for metrics and display.
type ReplicaStats struct {
	Shard  router.ShardName
	Addr   string
	Usable bool
	Lag    time.Duration // as last measured
	Err    error         // why the lag is unknown
	Pool   Stats
}

// Replicas returns the state of all replicas.
func (r *Registry) Replicas() (list []ReplicaStats) {
	now := time.Now()
	r.eachReplica(func(c *replica) {
		s := ReplicaStats{Shard: c.pool.Shard(), Usable: c.usable(now), Pool: c.pool.Stats()}
		s.Addr = s.Pool.Addr
		if l := c.state.Load(); l != nil {
			s.Lag, s.Err = l.behind, l.err
		} else {
			s.Err = errors.New("not yet measured")
		}
		list = append(list, s)
	})
	return list
}

func (r *Registry) eachReplica(f func(*replica)) {
	for _, of := range *r.replicas.Load() {
		for _, c := range of.list {
			f(c)
		}
	}
}

// applyReplicas replaces the replicas by those of the targets. A replica that remains keeps its connections. The caller
// holds mu, and retires the pools that are returned.
func (r *Registry) applyReplicas(targets []Target) (gone []*Pool) {
	old := map[string]*replica{}
	r.eachReplica(func(c *replica) { old[string(c.pool.shard)+" "+c.pool.target.Addr] = c })
	next := make(map[router.ShardName]*replicas)
	for _, t := range targets {
		of := &replicas{}
		for _, addr := range t.Replicas {
			follower := t
			follower.Addr, follower.Replicas, follower.Held, follower.Cut, follower.Epoch = addr, nil, false, false, 0
			key := string(t.Shard) + " " + addr
			c := old[key]
			if c != nil && c.pool.target.sameServer(follower) && c.maxLag == t.maxLag() {
				delete(old, key)
			} else {
				limits := follower.within(r.limits)
				limits.RestartWait = 0 // the primary is read meanwhile
				c = &replica{pool: newPool(follower, limits, r.log.With("replica", addr), r.dial), maxLag: t.maxLag()}
			}
			of.list = append(of.list, c)
		}
		if len(of.list) > 0 {
			next[t.Shard] = of
		}
	}
	r.replicas.Store(&next)
	for _, c := range old {
		gone = append(gone, c.pool)
	}
	return gone
}

// measureReplicas measures all replicas regularly until ctx ends.
func (r *Registry) measureReplicas(ctx context.Context) {
	ticker := time.NewTicker(measureEvery)
	defer ticker.Stop()
	for {
		var tasks sync.WaitGroup
		r.eachReplica(func(c *replica) { tasks.Go(func() { c.measure(ctx) }) })
		tasks.Wait()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// measure measures the replica's lag. It logs when the replica becomes usable or unusable.
func (r *replica) measure(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, measureTime)
	defer cancel()
	before := r.usable(time.Now())
	behind, err := r.behind(ctx)
	r.state.Store(&lag{behind, time.Now(), err})
	if after := r.usable(time.Now()); after != before {
		r.pool.log.Info("replica", "usable", after, "lag", behind, "err", err)
	}
}

// behind returns the lag that the server itself reports.
func (r *replica) behind(ctx context.Context) (time.Duration, error) {
	c, err := r.pool.Borrow(ctx, Default, 0)
	if err != nil {
		return 0, err
	}
	rows, err := c.Own().Query(ctx, "SHOW REPLICA STATUS")
	if err != nil {
		if _, refused := errors.AsType[*ServerError](err); refused {
			r.pool.Return(c)
		} else {
			r.pool.Discard(c)
		}
		return 0, err
	}
	r.pool.Return(c)
	return rows.behind()
}

// behind reads the lag from the column, which MySQL and MariaDB name differently. With several sources the largest lag
// counts.
func (rows *Rows) behind() (time.Duration, error) {
	if len(rows.Rows) == 0 {
		return 0, errors.New("it follows no server")
	}
	most := time.Duration(0)
	for i, c := range rows.Columns {
		if name := string(c.Name); !strings.EqualFold(name, "Seconds_Behind_Source") && !strings.EqualFold(name, "Seconds_Behind_Master") {
			continue
		}
		for _, row := range rows.Rows {
			if row[i] == nil {
				return 0, errors.New("its replication has stopped")
			}
			seconds, err := strconv.ParseUint(string(row[i]), 10, 32)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", c.Name, err)
			}
			most = max(most, time.Duration(seconds)*time.Second)
		}
		return most, nil
	}
	return 0, errors.New("SHOW REPLICA STATUS doesn't tell how far it is behind")
}
