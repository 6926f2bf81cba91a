package txn

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

// committing is a two-phase commit in progress.
type committing struct {
	of       *Connections
	name     twophase.Name
	home     branch
	branches []branch // all but home, in the order of their shards' names
}

// commitTwoPhase commits a transaction in which at least two shards have written. When it returns, the connection of each
// branch was returned or closed.
func (c *Connections) commitTwoPhase(home branch, writers []branch) error {
	p := &committing{of: c, name: c.name, home: home}
	for _, b := range writers {
		if b.Shard != home.Shard {
			p.branches = append(p.branches, b)
		}
	}
	slices.SortFunc(p.branches, func(a, b branch) int { return a.Shard.Compare(b.Shard) })
	v, err := twophase.Steps{
		Prepare: p.prepare, Decide: p.decide, CommitHome: p.commitHome, Settle: p.settle, Finish: p.finish,
		Forget: func() { c.Coordinator.Forget(p.name) },
		Leave:  func() { c.Coordinator.Leave(p.name) },
		Stop:   c.stopAt,
	}.Run()
	return c.commitEnded(v, err)
}

func (c *Connections) stopAt(point string) {
	if c.Stop != nil {
		c.Stop(point)
	}
}

// prepare prepares every branch, and checks that the home transaction is still open. A decision that is inserted outside of it would take effect
// by itself.
func (p *committing) prepare() error {
	ctx, cancel := context.WithTimeout(p.of.awaiting, phaseTime)
	defer cancel()
	defer p.of.observer.Trace().Enter(trace.Prepare, "")()
	for i := range p.branches {
		p.branches[i].prepared = true
	}
	all := append(slices.Clone(p.branches), p.home)
	errs := p.of.ask(ctx, all, func(b branch) []string {
		if !b.xa {
			return []string{"DO 0"}
		}
		return []string{p.name.End(), p.name.Prepare()}
	}, func(i int) { p.of.stopAt(fmt.Sprintf("after-prepare(%d)", i)) })
	for i := range p.branches {
		if errs[i] != nil && IsRefusal(errs[i]) {
			p.branches[i].prepared = false // the server reported that it did not prepare
		}
	}
	err := errors.Join(errs...)
	if err == nil && p.of.client.Autocommit() && !p.home.Conn.InTransaction() {
		err = fmt.Errorf("shard %s: its server has ended the transaction", p.home.Shard)
	}
	return err
}

// decide inserts the decision into the home shard.
func (p *committing) decide() error {
	ctx, cancel := context.WithTimeout(p.of.awaiting, phaseTime)
	defer cancel()
	defer p.of.observer.Trace().Enter(trace.Decide, string(p.home.Shard))()
	shards := make([]router.ShardName, len(p.branches))
	for i, b := range p.branches {
		shards[i] = b.Shard
	}
	ok, err := p.home.Conn.Own().Exec(ctx, p.of.Coordinator.Decide(p.name, shards))
	if twophase.Forbidden(err) {
		return fmt.Errorf("shard %s: it took so long that recovery has rolled it back", p.home.Shard)
	}
	if err != nil {
		p.of.Coordinator.Doubt(p.home.Shard)
		return fmt.Errorf("shard %s: insert the decision: %w", p.home.Shard, err)
	}
	if ok.AffectedRows != 1 {
		return fmt.Errorf("shard %s: insert the decision: too late by the server's clock; compare it with this host's", p.home.Shard)
	}
	return nil
}

// commitHome commits the home branch, and so the decision. After an error the connection is closed and the outcome is unknown.
func (p *committing) commitHome() error {
	ctx, cancel := context.WithTimeout(p.of.awaiting, phaseTime)
	defer cancel()
	defer p.of.observer.Trace().Enter(trace.Commit, string(p.home.Shard))()
	_, err := p.home.Conn.Own().Exec(ctx, "COMMIT")
	if err == nil {
		return nil
	}
	// Whatever the error was, this connection commits nothing more.
	p.of.discard(p.home)
	p.home.Conn = nil
	return fmt.Errorf("shard %s: %w", p.home.Shard, err)
}

// settle asks the home shard on another connection for the outcome of its COMMIT.
func (p *committing) settle() twophase.Verdict {
	ctx, cancel := context.WithTimeout(p.of.awaiting, settleTime)
	defer cancel()
	v, err := p.of.Coordinator.Settle(ctx, p.name)
	if err != nil {
		p.of.Log.Error("the outcome of a transaction is unknown", "session", p.of.id, "transaction", p.name.Transaction, "error", err)
	}
	return v
}

// finish runs the second phase. It reports whether every branch has ended.
func (p *committing) finish(v twophase.Verdict) bool {
	switch v {
	case twophase.Committed:
		return p.commitBranches()
	case twophase.RolledBack:
		return p.rollBack()
	case twophase.Unknown:
	}
	if p.home.Conn != nil {
		p.of.discard(p.home)
	}
	for _, b := range p.branches {
		p.of.discard(b)
	}
	return false
}

// commitBranches commits the prepared branches. It reports whether all of them have ended. Recovery ends the others.
func (p *committing) commitBranches() bool {
	ctx, cancel := context.WithTimeout(p.of.awaiting, phaseTime)
	defer cancel()
	defer p.of.observer.Trace().Enter(trace.Commit, "")()
	if p.home.Conn != nil {
		p.of.giveBack(p.home)
	}
	errs := p.of.ask(ctx, p.branches, func(branch) []string { return []string{p.name.Commit()} },
		func(i int) { p.of.stopAt(fmt.Sprintf("after-commit(%d)", i)) })
	ended := true
	for i, b := range p.branches {
		if errs[i] == nil {
			p.of.giveBack(b)
			continue
		}
		p.of.discard(b)
		if twophase.Gone(errs[i]) {
			continue // recovery was faster
		}
		ended = false
		p.of.Log.Warn("a branch of a committed transaction is left to recovery",
			"session", p.of.id, "transaction", p.name.Transaction, "shard", string(b.Shard), "error", errs[i])
	}
	return ended
}

// rollBack rolls all branches back. It returns false if a branch may still be prepared.
func (p *committing) rollBack() bool {
	ctx, cancel := context.WithTimeout(p.of.awaiting, UndoTime)
	defer cancel()
	if p.home.Conn != nil {
		p.of.rollback([]branch{p.home})
	}
	ended := true
	for _, b := range p.branches {
		if err := p.of.rollbackOne(ctx, b); err != nil {
			// A branch that was not prepared ends with its connection.
			ended = ended && !b.prepared
			p.of.discard(b)
			continue
		}
		p.of.giveBack(b)
	}
	return ended
}

func appendQuery(dst []byte, text string) ([]byte, byte) {
	return wire.AppendCommand(dst, mysql.COM_QUERY, []byte(text))
}
