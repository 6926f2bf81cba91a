package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/health"
	"locus/proxy/twophase"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/cluster"
)

// recoveryLimits are the limits of the connections by which branches are recovered. They don't come from the pools of the sessions.
// When branches in doubt lock rows, the sessions may have used up their pools.
var recoveryLimits = backend.Limits{
	MaxOpen: 4, MaxIdle: 2, MaxWaiting: 1000, WaitTimeout: 2 * time.Second, ConnectTimeout: 3 * time.Second,
}

// recoverySettings makes a statement of recovery wait for a lock no longer than a commit in progress takes to end.
var recoverySettings = backend.Default.With("innodb_lock_wait_timeout", "1")

// recoveryServers queries the shards for package twophase.
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
		ok, err := c.Own().Exec(ctx, sql)
		affected = ok.AffectedRows
		return err
	})
	return affected, err
}

func (s recoveryServers) Query(ctx context.Context, shard router.ShardName, sql string) ([][][]byte, error) {
	var rows [][][]byte
	err := s.on(ctx, shard, func(c *backend.Conn) error {
		answer, err := c.Own().Query(ctx, sql)
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
		return &unaskedError{err}
	}
	err = do(conn)
	if _, refused := errors.AsType[*backend.ServerError](err); err != nil && !refused {
		pool.Discard(conn)
		return err
	}
	pool.Return(conn)
	return err
}

// unaskedError is the reason why a shard was not queried. It hides the server's error, because that was the answer to a login.
type unaskedError struct{ err error }

func (e *unaskedError) Error() string { return e.err.Error() }

// Frozen reports whether the server is unresponsive, so that another attempt is useless for a while.
func (e *unaskedError) Frozen() bool {
	_, frozen := errors.AsType[*health.FrozenError](e.err)
	return frozen
}

func (p *Proxy) closeRecovery(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := p.builder.recovery.Close(ctx); err != nil {
		p.options.Log.Warn("close connections for recovery", "error", err)
	}
}

// setUpRecovery creates the coordinator and its pools if transactions over several shards are committed in two phases.
func (p *Proxy) setUpRecovery() {
	if p.options.Spanning != txn.XA {
		return
	}
	limits := recoveryLimits
	limits.RestartWait = p.options.Backends.RestartWait // as long as the sessions wait
	p.builder.recovery = backend.NewRegistry(limits, p.options.Log)
	p.coordinator = twophase.New(twophase.Options{
		Cluster: p.options.Cluster, Servers: recoveryServers{p.builder.recovery}, Log: p.options.Log,
		Patience: p.options.RecoveryPatience, Every: p.options.RecoveryPatience / 3,
		Holder: cluster.Holder(p.options.Name), Evict: p.evict, Crashed: p.options.Crashed,
	})
	p.builder.doubt = p.coordinator.Doubt
}

// evict ends the connections of a process to a shard if the process isn't alive. The server rolls back what the process had begun
// there and not committed. A process that was only unresponsive finds its connections lost, and asks for the outcome of its
// transactions.
func (p *Proxy) evict(ctx context.Context, shard router.ShardName, holder string) (gone bool, err error) {
	if p.options.Alive == nil || holder == cluster.Holder(p.options.Name) {
		return false, nil
	}
	names, err := p.options.Alive(ctx)
	if err != nil {
		return false, fmt.Errorf("who is alive: %w", err)
	}
	if slices.ContainsFunc(names, func(name string) bool { return cluster.Holder(name) == holder }) {
		return false, nil
	}
	servers := recoveryServers{p.builder.recovery}
	rows, err := servers.Query(ctx, shard, "SELECT p.ID FROM information_schema.PROCESSLIST p"+
		" WHERE p.ID = "+cluster.MarkedBy(cluster.HolderMark(holder)))
	if err != nil {
		return true, fmt.Errorf("list its connections: %w", err)
	}
	for _, row := range rows {
		if _, err := servers.Exec(ctx, shard, "KILL CONNECTION "+string(row[0])); err != nil && !noSuchThread(err) {
			return true, fmt.Errorf("end one of its connections: %w", err)
		}
	}
	if len(rows) > 0 {
		p.options.Log.Warn("connections of a proxy that is gone are ended, which keep a transaction in doubt", "shard", string(shard), "connections", len(rows))
	}
	return true, nil
}

func noSuchThread(err error) bool {
	refused, ok := errors.AsType[*mysql.MyError](err)
	return ok && refused.Code == mysql.ER_NO_SUCH_THREAD
}
