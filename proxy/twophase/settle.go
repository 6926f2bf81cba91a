package twophase

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/router"
)

// Servers run statements on the shards, each by itself and committed at once, on
// connections that no client has. Waits for locks are short. An error that is no
// *mysql.MyError means that the effect is unknown, or that there is none: a refused
// login is no *mysql.MyError, for it says nothing of the statement.
type Servers interface {
	// Shards are all that are registered.
	Shards() []router.ShardName
	Exec(ctx context.Context, shard router.ShardName, sql string) (affected uint64, err error)
	Query(ctx context.Context, shard router.ShardName, sql string) (rows [][][]byte, err error)
}

// settle finds out whether a transaction is committed; if that is undecided, it
// is decided now that it is not. It fails while the decision is being made.
func settle(ctx context.Context, servers Servers, n Name) (Verdict, error) {
	for range 3 { // again only if a row came or went between two questions
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
	return Unknown, fmt.Errorf("the decision on shard %s comes and goes", n.Home)
}

// frozen tells the error of a server that has stopped to answer.
func frozen(err error) bool {
	var of interface{ Frozen() bool }
	return errors.As(err, &of) && of.Frozen()
}

// settleEvery is the pause between two questions of a session that waits.
const settleEvery = 200 * time.Millisecond

// Settle asks until it is known what became of a transaction, or ctx ends, or the server is frozen, which may last.
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
