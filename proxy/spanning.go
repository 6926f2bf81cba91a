package proxy

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/proxy/backend"
	"locus/proxy/session"
	"locus/proxy/twophase"
	"locus/router"
)

// recoveryLimits are those of the connections by which branches are recovered.
// They are none of the sessions' pools: when rows are locked by branches in
// doubt, sessions may have used up all of theirs.
var recoveryLimits = backend.Limits{
	MaxOpen: 4, MaxIdle: 2, MaxWaiting: 1000, WaitTimeout: 2 * time.Second, ConnectTimeout: 3 * time.Second,
}

// recoverySettings have a statement of recovery wait for a lock no longer than it
// takes a commit under way to end.
var recoverySettings = backend.Default.With("innodb_lock_wait_timeout", "1")

// recoveryServers are the shards, as package twophase asks them.
type recoveryServers struct{ pools *backend.Registry }

func (s recoveryServers) Shards() []router.ShardName {
	var names []router.ShardName
	for _, pool := range s.pools.Pools() {
		names = append(names, pool.Shard())
	}
	return names
}

func (s recoveryServers) Exec(ctx context.Context, shard router.ShardName, sql string) (uint64, error) {
	var affected uint64
	err := s.on(ctx, shard, func(c *backend.Conn) error {
		ok, err := c.Exec(ctx, sql)
		affected = ok.AffectedRows
		return err
	})
	return affected, err
}

func (s recoveryServers) Query(ctx context.Context, shard router.ShardName, sql string) ([][][]byte, error) {
	var rows [][][]byte
	err := s.on(ctx, shard, func(c *backend.Conn) error {
		answer, err := c.Query(ctx, sql)
		if err == nil {
			rows = answer.Rows
		}
		return err
	})
	return rows, err
}

func (s recoveryServers) on(ctx context.Context, shard router.ShardName, do func(*backend.Conn) error) error {
	pool, ok := s.pools.Pool(shard)
	if !ok {
		return fmt.Errorf("shard %s is not registered", shard)
	}
	conn, err := pool.Borrow(ctx, recoverySettings, 0)
	if err != nil {
		return err
	}
	err = do(conn)
	if _, refused := errors.AsType[*backend.ServerError](err); err != nil && !refused {
		pool.Discard(conn)
		return err
	}
	pool.Return(conn)
	return err
}

func (p *Proxy) closeRecovery(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := p.builder.recovery.Close(ctx); err != nil {
		p.options.Log.Warn("close connections for recovery", "error", err)
	}
}

// span makes what transactions over several shards need, where they are committed
// in two phases.
func (p *Proxy) span() {
	if p.options.Spanning != session.XA {
		return
	}
	p.builder.recovery = backend.NewRegistry(recoveryLimits, p.options.Log)
	p.coordinator = twophase.New(twophase.Options{
		Cluster: p.options.Cluster, Servers: recoveryServers{p.builder.recovery}, Log: p.options.Log,
		Patience: p.options.RecoveryPatience, Every: p.options.RecoveryPatience / 3,
	})
	p.builder.doubt = p.coordinator.Doubt
}
