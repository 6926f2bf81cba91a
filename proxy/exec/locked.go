package exec

import (
	"context"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/txn"
)

// What a client is told of a definition that is not made under locks.
const (
	rewrites = "the table is too large to be locked while servers write it anew: statements on it may have been refused until all shards had done it"
	unlocked = "a server doesn't do it while it has the table locked: statements on the table may have been refused until all shards had done it"
)

// locked makes a definition after which statements can't be planned over shards of which some have done it. The table is locked on all
// shards before any does it, and until all have: statements wait meanwhile. What a server doesn't do under a lock, and what would
// take long, is done on all shards at once, as they come to it.
func (a *alteration) locked(tell func(Defined)) error {
	text, spares, err := a.underLocks()
	if err != nil {
		return a.begunNowhere(err)
	}
	if text == nil {
		a.end()
		a.Plain(rewrites)
		return a.define(tell)
	}
	for {
		if err := a.lock(); err != nil {
			return a.notLocked(err, tell)
		}
		a.ask(text, a.where(anyOutcome))
		busy := a.where(isLockWait)
		if len(busy) == 0 || len(a.done()) > 0 || a.failing() {
			break
		}
		err := a.unlock()
		if err == nil && !time.Now().After(a.until) {
			err = pause(a.Conns.Waits(), lockPause)
		}
		if err != nil || time.Now().After(a.until) {
			return a.begunNowhere(&stepError{busy[0].Shard, busy[0].err})
		}
	}
	a.insist(text)
	_ = a.unlock()
	a.unlockedToo(spares)
	return a.conclude(tell)
}

// underLocks is the text that shards are sent while the table is locked. Spares tells that it has them refuse what they would write
// the table anew for. Nil: it can't be told them, and the table is large.
func (a *alteration) underLocks() (text []byte, spares bool, err error) {
	altering := a.Facts.Statement.Altering
	if altering == nil || altering.Instant { // TRUNCATE writes no rows
		return a.text(), false, nil
	}
	large, err := a.large()
	switch {
	case err != nil:
		return nil, false, err
	case !large:
		return a.text(), false, nil
	case altering.Clauses == nil:
		return nil, false, nil
	}
	at := a.Values.Offset(*altering.Clauses)
	return a.text(Edit{at, at, "ALGORITHM=INSTANT, "}), true, nil
}

// lock locks the table on all shards, or on none.
func (a *alteration) lock() error {
	for {
		err := a.lockOnce()
		if err == nil || !isLockWait(err) || time.Now().After(a.until) {
			return err
		}
		if err := pause(a.Conns.Waits(), lockPause); err != nil {
			return err
		}
	}
}

// lockOnce asks one shard after the other first, and gives each lock back at once: while somebody holds the table on one, statements
// on the others don't wait.
func (a *alteration) lockOnce() error {
	if err := a.May(); err != nil {
		return err
	}
	if err := a.awake(); err != nil {
		return err
	}
	for range a.shards {
		on := &a.shards[a.first]
		if err := a.freed(on); err != nil {
			return on.notGiven(err)
		}
		if err := a.stopped(); err != nil {
			return err
		}
		a.first = (a.first + 1) % len(a.shards)
	}
	var missing error
	for i, err := range a.each(a.takeLock) {
		if err != nil {
			missing, a.first = a.shards[i].notGiven(err), i
		}
	}
	if missing == nil {
		return nil
	}
	if err := a.unlock(); err != nil {
		return err
	}
	return missing
}

// notGiven is the error of a shard that gave no lock. Its connection goes on if the server has said so.
func (on *defining) notGiven(err error) error {
	if !txn.IsRefusal(err) {
		on.err = err
	}
	return &stepError{on.Shard, err}
}

// unlock gives all locks back. After an error some connection is not used any more.
func (a *alteration) unlock() (lost error) {
	for i, err := range a.each(a.giveLock) {
		if err != nil {
			lost = &stepError{a.shards[i].Shard, err}
		}
	}
	return lost
}

// notLocked ends one for which there were no locks. A server that gives none to this account, or of what isn't there, says of the
// definition itself what it makes of that.
func (a *alteration) notLocked(err error, tell func(Defined)) error {
	step, ofShard := err.(*stepError) //nolint:errorlint // it is never wrapped
	if !ofShard || isLockWait(err) || !txn.IsRefusal(step.err) || a.stopped() != nil {
		return a.begunNowhere(err)
	}
	a.end()
	if !isAbsent(step.err) {
		a.Plain("shard " + string(step.shard) + " locks no table (" + step.err.Error() + "): statements on the table may have been refused until all shards had done it")
	}
	return a.define(tell)
}

// insist asks those shards again that could not do it though the table is locked, while others have done it: who reads the table's definition
// keeps them for a moment. The locks are kept.
func (a *alteration) insist(text []byte) {
	for len(a.done()) > 0 && !a.failing() && !time.Now().After(a.until) && a.stopped() == nil {
		busy := a.where(isLockWait)
		if len(busy) == 0 {
			return
		}
		a.ask(text, busy)
	}
}

// unlockedToo has the shards do it that don't under a lock.
func (a *alteration) unlockedToo(spares bool) {
	aside, why := a.where(isNotLocked), unlocked
	if spares {
		aside, why = append(aside, a.where(isNotInstant)...), rewrites
	}
	if len(aside) == 0 || a.failing() {
		return
	}
	a.Plain(why)
	ctx, cancel := context.WithTimeoutCause(a.Context, answerWait, errNoAnswer)
	defer cancel()
	for _, on := range aside {
		if err := on.Conn.Carry(ctx, a.Vars.Settings); err != nil {
			on.err = err
			return
		}
	}
	a.ask(a.text(), aside)
}

// failing tells that some shard has failed to do it, for another reason than those for which it may be asked again.
func (a *alteration) failing() bool {
	return len(a.where(func(err error) bool {
		return err != nil && !isLockWait(err) && a.already(err) == nil && !isNotLocked(err) && !isNotInstant(err)
	})) > 0
}

// isNotLocked tells that a table was not locked which a definition needs, a foreign key's say.
func isNotLocked(err error) bool {
	const notLocked = 1100
	return hasCode(err, notLocked)
}

// isAbsent tells that there is no such table.
func isAbsent(err error) bool { return hasCode(err, mysql.ER_NO_SUCH_TABLE) }
