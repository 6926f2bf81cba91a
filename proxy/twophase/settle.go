package twophase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/router"
)

// Servers run statements on the shards, each in its own transaction, on connections that belong to no client. Lock
// waits are short. An error that isn't a *mysql.MyError means that the statement had no effect, or an unknown one. The
// error of a refused login isn't a *mysql.MyError, since it says nothing about the statement.
type Servers interface {
	// Shards returns all registered shards.
	Shards() []router.ShardName
	Exec(ctx context.Context, shard router.ShardName, sql string) (affected uint64, err error)
	Query(ctx context.Context, shard router.ShardName, sql string) (rows [][][]byte, err error)
}

// settle determines whether a transaction is committed. If that is undecided, it forbids the commit. It returns an
// error while the decision is in progress.
func settle(ctx context.Context, servers Servers, n Name) (Verdict, error) {
	for range 3 { // repeats only if a row appeared or vanished between two queries
		there, err := servers.Exec(ctx, n.Home, confirm(n.Transaction))
		if err != nil {
			return Unknown, fmt.Errorf("ask shard %s for the decision: %w", n.Home, err)
		}
		if there > 0 {
			return Committed, nil
		}
		_, err = servers.Exec(ctx, n.Home, forbid(n.Transaction))
		if err == nil {
			return RolledBack, nil
		}
		if !Forbidden(err) {
			return Unknown, fmt.Errorf("forbid the decision on shard %s: %w", n.Home, err)
		}
		rows, err := servers.Query(ctx, n.Home, look(n.Transaction))
		if err != nil {
			return Unknown, fmt.Errorf("ask shard %s for the decision: %w", n.Home, err)
		}
		if len(rows) == 1 && string(rows[0][0]) == "0" {
			return RolledBack, nil
		}
	}
	return Unknown, fmt.Errorf("the decision on shard %s keeps changing", n.Home)
}

// frozen reports whether the error is about an unresponsive server.
func frozen(err error) bool {
	var of interface{ Frozen() bool }
	return errors.As(err, &of) && of.Frozen()
}

// settleEvery is the interval at which a waiting session asks again.
const settleEvery = 200 * time.Millisecond

// Settle retries until the outcome of a transaction is known, ctx ends, or the server is frozen, which may last.
func (c *Coordinator) Settle(ctx context.Context, n Name) (Verdict, error) {
	again := time.NewTicker(settleEvery)
	defer again.Stop()
	for {
		v, err := settle(ctx, c.servers, n)
		if err == nil || frozen(err) {
			return v, err
		}
		select {
		case <-ctx.Done():
			return Unknown, err
		case <-again.C:
		}
	}
}
