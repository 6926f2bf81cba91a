package txn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

// phaseTime limits each phase of a commit on several shards. settleTime limits the wait for the home shard to report the outcome of a commit
// whose answer was lost.
const (
	phaseTime  = 60 * time.Second
	settleTime = 10 * time.Second
)

// Coordinator is a process's part in the transactions on several shards: see [twophase.Coordinator].
type Coordinator interface {
	Ready(ctx context.Context, shard router.ShardName) error
	Name(home router.ShardName) twophase.Name
	Decide(n twophase.Name, branches []router.ShardName) string
	Doubt(shard router.ShardName)
	Settle(ctx context.Context, n twophase.Name) (twophase.Verdict, error)
	Halves(ctx context.Context, shards []router.ShardName) ([]twophase.Name, error)
	Forget(n twophase.Name)
	Leave(n twophase.Name)
}

// span checks that a further shard may join, and names the transaction if it has no name.
func (c *Connections) span(shard router.ShardName) error {
	home := c.branches[0].Shard
	for _, name := range []router.ShardName{home, shard} {
		if err := c.Coordinator.Ready(c.ctx, name); err != nil {
			return cannotSpan(home, shard, err)
		}
	}
	if c.name == (twophase.Name{}) {
		c.name = c.Coordinator.Name(home)
	}
	return nil
}

// openingXA returns the statements that a shard which joins as an XA branch is sent first. XA START replaces the statement that began the
// transaction.
func (t *transaction) openingXA() []string {
	list := make([]string, 0, len(t.marks)+3)
	if t.scope != "" {
		list = append(list, t.scope)
	}
	if t.how.Access != stmt.AnyAccess {
		list = append(list, "SET TRANSACTION "+t.how.Access.String())
	}
	list = append(list, t.name.Start())
	return append(list, t.opening[len(t.opening)-len(t.marks):]...)
}

// commitSpanning commits a transaction on several shards, on all of them or on none. Branches that have only read end first. If only one branch
// has written, its commit decides. Otherwise the commit has two phases.
func (c *Connections) commitSpanning() error {
	for i := range c.branches {
		b := &c.branches[i]
		b.wrote = b.wrote && b.Conn.Status()&statusReadOnly == 0 // in a read-only transaction the server refused the write
	}
	home, readers, writers := c.branches[0], []branch(nil), []branch(nil)
	for _, b := range c.branches {
		if b.wrote {
			writers = append(writers, b)
		} else if b.Shard != home.Shard {
			readers = append(readers, b)
		}
	}
	if len(writers) <= 1 && !home.wrote {
		readers = append(readers, home)
	}
	if err := c.endReaders(readers, home, writers); err != nil {
		return err
	}
	if len(writers) == 0 {
		c.Counts.Transactions.count(len(c.branches), twophase.Committed)
		c.end()
		return nil
	}
	if len(writers) == 1 {
		return c.commitOnly(writers[0])
	}
	return c.commitTwoPhase(home, writers)
}

// endReaders ends the branches that have only read. If that fails, their locks are lost, so it rolls the whole transaction back.
func (c *Connections) endReaders(readers []branch, home branch, writers []branch) error {
	ctx, cancel := context.WithTimeout(c.awaiting, phaseTime)
	defer cancel()
	errs := c.ask(ctx, readers, func(b branch) []string {
		if b.xa {
			return []string{c.name.End(), c.name.CommitOnePhase()}
		}
		return []string{"COMMIT"}
	}, nil)
	var failure error
	for i, b := range readers {
		if errs[i] == nil {
			c.giveBack(b)
			continue
		}
		failure = errors.Join(failure, errs[i])
		c.discard(b)
	}
	if failure == nil {
		return nil
	}
	rest := slices.Clone(writers)
	if !home.wrote && !slices.ContainsFunc(readers, func(b branch) bool { return b.Shard == home.Shard }) {
		rest = append(rest, home)
	}
	c.rollback(rest)
	return c.commitEnded(twophase.RolledBack, failure)
}

// commitOnly commits the one branch that has written.
func (c *Connections) commitOnly(b branch) error {
	err := c.commitOne(c.awaiting, b)
	if err == nil {
		c.giveBack(b)
		return c.commitEnded(twophase.Committed, nil)
	}
	c.discard(b) // a branch that the server refused to end cannot be used again
	n := len(c.branches)
	c.end()
	return c.commitFailure(err, b.Shard, nil, nil, n)
}

// ask sends each branch its statements before it reads any answer. It returns the first error of each branch. If read is not nil, it is called
// after the last answer of each branch without an error.
func (c *Connections) ask(ctx context.Context, branches []branch, texts func(branch) []string, read func(i int)) []error {
	errs := make([]error, len(branches))
	counts := make([]int, len(branches))
	for i, b := range branches {
		defer b.Conn.Watch(ctx)()
		list := texts(b)
		counts[i] = len(list)
		out := c.out[:0]
		for _, text := range list {
			out, _ = appendQuery(out, text)
		}
		c.out = out
		errs[i] = b.Conn.Send(out, backend.Nothing)
	}
	for i, b := range branches {
		for range counts[i] {
			if errs[i] != nil && !IsRefusal(errs[i]) {
				break
			}
			if _, err := b.Conn.Outcome(); err != nil && (errs[i] == nil || !IsRefusal(err)) {
				errs[i] = err
			}
		}
		switch {
		case errs[i] == nil && read != nil:
			read(i)
		case errs[i] != nil && IsRefusal(errs[i]): // other errors name the shard themselves
			errs[i] = fmt.Errorf("shard %s: %w", b.Shard, errs[i])
		}
	}
	return errs
}

// commitEnded ends the transaction, and returns the error for its outcome, or nil if it was committed.
func (c *Connections) commitEnded(v twophase.Verdict, err error) error {
	c.Counts.Transactions.count(len(c.branches), v)
	home := c.branches[0].Shard
	c.end()
	if v == twophase.Committed {
		return nil
	}
	code, state := uint16(erCommitError), wire.StateGeneral
	if e, ok := errors.AsType[*mysql.MyError](err); ok {
		code, state = e.Code, e.State
		if twophase.EndsTransaction(code) {
			code, state = mysql.ER_LOCK_DEADLOCK, "40001"
		}
	}
	if v == twophase.RolledBack {
		return wire.Errorf(code, state, "commit: %v; the transaction was rolled back on every shard", err)
	}
	return wire.Errorf(erCommitError, wire.StateGeneral, "commit: %v; whether the transaction was committed is not known yet: "+
		"it is committed on every shard or on none, as recorded on shard %s, which does not answer now; read it back", err, home)
}
