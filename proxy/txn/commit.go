package txn

import (
	"context"
	"fmt"
	"time"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/proxy/wire"
	"locus/router"
)

// Commit ends the transaction on every shard that joined. If it fails, its error names the shards where the commit failed, and reports the
// outcome on the other shards.
func (c *Connections) Commit() error {
	if c.Reserved(GlobalTransaction) {
		return c.BarredByXA()
	}
	c.Shield()
	defer c.Unshield()
	branches := c.branches
	if c.Spanning == XA && len(branches) > 1 && !c.Reserved(LockedTables) {
		return c.commitSpanning()
	}
	for i, b := range branches {
		err := c.commitOne(c.awaiting, b)
		if err == nil {
			c.giveBack(b)
			continue
		}
		c.giveBackAfter(b, err)
		c.rollback(branches[i+1:])
		c.end()
		return c.commitFailure(err, b.Shard, branches[:i], branches[i+1:], len(branches))
	}
	if len(branches) > 0 {
		c.Counts.Transactions.count(len(branches), twophase.Committed)
	}
	c.end()
	return nil
}

// commitFailure counts a transaction whose commit failed on the shard at, and returns its error. done are the branches that were committed
// before, and rest those that were rolled back. If the first server refused the commit, nothing was committed, and its error is returned
// unchanged.
func (c *Connections) commitFailure(err error, at router.ShardName, done, rest []branch, shards int) error {
	_, refused := refusal(err)
	undone := refused || backend.NotSent(err)
	outcome := "whether it was committed there is unknown"
	if undone {
		outcome = "it was rolled back there"
	}
	verdict := twophase.Unknown
	if undone && len(done) == 0 {
		verdict = twophase.RolledBack
	}
	c.Counts.Transactions.count(shards, verdict)
	if refused && len(done) == 0 {
		return err
	}
	text := fmt.Sprintf("commit on shard %s: %v; %s", at, err, outcome)
	for i, b := range done {
		if i == 0 {
			text += "; it is committed on " + string(b.Shard)
			continue
		}
		text += ", " + string(b.Shard)
	}
	for _, b := range rest {
		text += fmt.Sprintf("; it was rolled back on %s", b.Shard)
	}
	return wire.Errorf(erCommitError, wire.StateGeneral, "%s", text)
}

// commitOne commits one branch in one phase.
func (c *Connections) commitOne(ctx context.Context, b branch) error {
	if !b.xa {
		_, err := b.Conn.Own().Exec(ctx, "COMMIT")
		return err
	}
	if _, err := b.Conn.Own().Exec(ctx, c.name.End()); err != nil {
		return err
	}
	_, err := b.Conn.Own().Exec(ctx, c.name.CommitOnePhase())
	return err
}

// RollBack ends the transaction without its effects. It cannot fail: if a server does not roll back, its connection is closed, which rolls back
// too.
func (c *Connections) RollBack() {
	if len(c.branches) > 0 {
		c.Counts.Transactions.count(len(c.branches), twophase.RolledBack)
	}
	c.rollback(c.branches)
	c.end()
}

// UndoTime is the time limit of a rollback. After it the connection is closed instead.
const UndoTime = 5 * time.Second

// rollback rolls branches back and gives their connections back. A connection on which that fails is closed.
func (c *Connections) rollback(branches []branch) {
	if len(branches) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(c.awaiting, UndoTime)
	defer cancel()
	for _, b := range branches {
		if err := c.rollbackOne(ctx, b); err != nil {
			c.discard(b)
			continue
		}
		c.giveBack(b)
	}
}

// rollbackOne rolls one branch back. After a deadlock, XA END may be refused, because the branch is marked for rollback or already rolled back.
func (c *Connections) rollbackOne(ctx context.Context, b branch) error {
	if !b.xa {
		_, err := b.Conn.Own().Exec(ctx, "ROLLBACK")
		return err
	}
	if !b.prepared {
		if _, err := b.Conn.Own().Exec(ctx, c.name.End()); err != nil && !IsRefusal(err) {
			return err
		}
	}
	_, err := b.Conn.Own().Exec(ctx, c.name.Rollback())
	return err
}
