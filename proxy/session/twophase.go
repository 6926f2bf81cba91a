package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/trace"
	"locus/proxy/twophase"
	"locus/proxy/wire"
	"locus/router"
)

// committing is a commit in two phases under way.
type committing struct {
	s        *Session
	name     twophase.Name
	home     branch
	branches []branch // all but home, in the order of their shards' names
}

// commitTwoPhase commits what at least two shards have written. Each branch's
// connection is given back or closed when it returns.
func (s *Session) commitTwoPhase(home branch, writers []branch) error {
	c := &committing{s: s, name: s.txn.name, home: home}
	for _, b := range writers {
		if b.shard != home.shard {
			c.branches = append(c.branches, b)
		}
	}
	slices.SortFunc(c.branches, func(a, b branch) int { return a.shard.Compare(b.shard) })
	v, err := twophase.Steps{
		Prepare: c.prepare, Decide: c.decide, CommitHome: c.commitHome, Settle: c.settle, Finish: c.finish,
		Forget: func() { s.Coordinator.Forget(c.name) },
		Leave:  func() { s.Coordinator.Leave(c.name) },
		Stop:   s.stopAt,
	}.Run()
	return s.commitEnded(v, func() {}, err)
}

func (s *Session) stopAt(point string) {
	if s.Stop != nil {
		s.Stop(point)
	}
}

// prepare has every branch prepare, and makes sure that the home transaction is
// still open: a decision inserted outside of it would decide by itself.
func (c *committing) prepare() error {
	ctx, cancel := context.WithTimeout(c.s.awaiting, phaseTime)
	defer cancel()
	defer c.s.timing.trace.Enter(trace.Prepare, "")()
	for i := range c.branches {
		c.branches[i].prepared = true
	}
	all := append(slices.Clone(c.branches), c.home)
	errs := c.s.ask(ctx, all, func(b branch) []string {
		if !b.xa {
			return []string{"DO 0"}
		}
		return []string{c.name.End(), c.name.Prepare()}
	}, func(i int) { c.s.stopAt(fmt.Sprintf("after-prepare(%d)", i)) })
	for i := range c.branches {
		if errs[i] != nil && refused(errs[i]) {
			c.branches[i].prepared = false // the server says so
		}
	}
	err := errors.Join(errs...)
	if err == nil && c.s.vars.Autocommit && !c.home.conn.InTransaction() {
		err = fmt.Errorf("shard %s: its server has ended the transaction", c.home.shard)
	}
	return err
}

// decide inserts the decision.
func (c *committing) decide() error {
	ctx, cancel := context.WithTimeout(c.s.awaiting, phaseTime)
	defer cancel()
	defer c.s.timing.trace.Enter(trace.Decide, string(c.home.shard))()
	shards := make([]router.ShardName, len(c.branches))
	for i, b := range c.branches {
		shards[i] = b.shard
	}
	ok, err := c.home.conn.Own().Exec(ctx, c.s.Coordinator.Decide(c.name, shards))
	if twophase.Forbidden(err) {
		return fmt.Errorf("shard %s: it took so long that recovery has rolled it back", c.home.shard)
	}
	if err != nil {
		c.s.Coordinator.Doubt(c.home.shard)
		return fmt.Errorf("shard %s: insert the decision: %w", c.home.shard, err)
	}
	if ok.AffectedRows != 1 {
		return fmt.Errorf("shard %s: insert the decision: too late by the server's clock; compare it with this host's", c.home.shard)
	}
	return nil
}

func (c *committing) commitHome() error {
	ctx, cancel := context.WithTimeout(c.s.awaiting, phaseTime)
	defer cancel()
	defer c.s.timing.trace.Enter(trace.Commit, string(c.home.shard))()
	_, err := c.home.conn.Own().Exec(ctx, "COMMIT")
	if err == nil {
		return nil
	}
	// Whatever the error was, this connection commits nothing more.
	c.s.discard(c.home)
	c.home.conn = nil
	return fmt.Errorf("shard %s: %w", c.home.shard, err)
}

// settle asks the home shard, on another connection, what its COMMIT came to.
func (c *committing) settle() twophase.Verdict {
	ctx, cancel := context.WithTimeout(c.s.awaiting, settleTime)
	defer cancel()
	v, err := c.s.Coordinator.Settle(ctx, c.name)
	if err != nil {
		c.s.Log.Error("the outcome of a transaction is unknown", "session", c.s.id, "transaction", c.name.Transaction, "error", err)
	}
	return v
}

// finish is the second phase.
func (c *committing) finish(v twophase.Verdict) bool {
	switch v {
	case twophase.Committed:
		return c.commitBranches()
	case twophase.RolledBack:
		return c.rollBack()
	case twophase.Unknown:
	}
	if c.home.conn != nil {
		c.s.discard(c.home)
	}
	for _, b := range c.branches {
		c.s.discard(b)
	}
	return false
}

func (c *committing) commitBranches() bool {
	ctx, cancel := context.WithTimeout(c.s.awaiting, phaseTime)
	defer cancel()
	defer c.s.timing.trace.Enter(trace.Commit, "")()
	if c.home.conn != nil {
		c.s.giveBack(c.home)
	}
	errs := c.s.ask(ctx, c.branches, func(branch) []string { return []string{c.name.Commit()} },
		func(i int) { c.s.stopAt(fmt.Sprintf("after-commit(%d)", i)) })
	ended := true
	for i, b := range c.branches {
		if errs[i] == nil {
			c.s.giveBack(b)
			continue
		}
		c.s.discard(b)
		if twophase.Gone(errs[i]) {
			continue // recovery was quicker
		}
		ended = false
		c.s.Log.Warn("a branch of a committed transaction is left to recovery",
			"session", c.s.id, "transaction", c.name.Transaction, "shard", string(b.shard), "error", errs[i])
	}
	return ended
}

func (c *committing) rollBack() bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.s.ctx), undoTime)
	defer cancel()
	if c.home.conn != nil {
		c.s.rollback([]branch{c.home})
	}
	ended := true
	for _, b := range c.branches {
		if err := c.s.rollbackOne(ctx, b); err != nil {
			// What was not prepared ends with its connection.
			ended = ended && !b.prepared
			c.s.discard(b)
			continue
		}
		c.s.giveBack(b)
	}
	return ended
}

func appendQuery(dst []byte, text string) ([]byte, byte) {
	return wire.AppendCommand(dst, mysql.COM_QUERY, []byte(text))
}
