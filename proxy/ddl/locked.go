package ddl

import (
	"context"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/txn"
	"locus/router/stmt"
)

// Notes for the client about a definition that is not made under locks.
const (
	rewrites = "the table is too large to be locked while servers rewrite it: statements on it may have been refused until all shards had done it"
	unlocked = "a server doesn't do it while it has the table locked: statements on the table may have been refused until all shards had done it"
)

// locked makes a definition that statements over several shards must not find on some shards only. The table is locked on all shards before
// any makes the definition, and until all have made it, so statements wait. A definition that a server does not make under a lock, or that
// would take long, is made on all shards at once.
func (a *alteration) locked() error {
	text, spares, err := a.underLocks()
	if err != nil {
		return a.begunNowhere(err)
	}
	if text == nil {
		a.end()
		a.warnPlain(rewrites)
		return a.define()
	}
	for {
		if err := a.lock(); err != nil {
			return a.notLocked(err)
		}
		a.ask(same(text), a.where(anyOutcome))
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
	return a.conclude()
}

// underLocks returns the text that shards are sent while the table is locked. Spares reports that by this text they refuse a definition for
// which they would rewrite the table. The text is nil if the table is large and the statement can't be changed like that.
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
	return a.text(stmt.Edit{From: at, To: at, Text: "ALGORITHM=INSTANT, "}), true, nil
}

// lock locks the table on all shards, or on none. It retries until the time is over.
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

// lockOnce first locks the table on one shard after the other and releases each lock at once. So if another session has the table locked on
// one shard, statements on the others don't wait.
func (a *alteration) lockOnce() error {
	if err := a.may(); err != nil {
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

// notGiven returns the error of a shard that did not grant a lock. The connection stays usable if the server answered.
func (on *onShard) notGiven(err error) error {
	if !txn.IsRefusal(err) {
		on.err = err
	}
	return &stepError{on.Shard, err}
}

// unlock releases all locks. After an error some connection is not used any more.
func (a *alteration) unlock() (lost error) {
	for i, err := range a.each(a.giveLock) {
		if err != nil {
			lost = &stepError{a.shards[i].Shard, err}
		}
	}
	return lost
}

// notLocked ends an alteration that did not get its locks. If a server refuses LOCK TABLES to this account, or has no such table, the
// definition is sent nevertheless, and the server's answer to it counts.
func (a *alteration) notLocked(err error) error {
	step, ofShard := err.(*stepError) //nolint:errorlint // it is never wrapped
	if !ofShard || isLockWait(err) || !txn.IsRefusal(step.err) || a.stopped() != nil {
		return a.begunNowhere(err)
	}
	a.end()
	if !isAbsent(step.err) {
		a.warnPlain("shard " + string(step.shard) + " locks no table (" + step.err.Error() + "): statements on the table may have been refused until all shards had done it")
	}
	return a.define()
}

// insist sends the definition again to shards that could not make it although the table is locked, if other shards have made it. A session
// that reads the table's definition delays it for a moment. The locks are kept.
func (a *alteration) insist(text []byte) {
	for len(a.done()) > 0 && !a.failing() && !time.Now().After(a.until) && a.stopped() == nil {
		busy := a.where(isLockWait)
		if len(busy) == 0 {
			return
		}
		a.ask(same(text), busy)
	}
}

// unlockedToo makes the definition on the shards that refuse it under a lock.
func (a *alteration) unlockedToo(spares bool) {
	aside, why := a.where(isNotLocked), unlocked
	if spares {
		aside, why = append(aside, a.where(isNotInstant)...), rewrites
	}
	if len(aside) == 0 || a.failing() {
		return
	}
	a.warnPlain(why)
	ctx, cancel := context.WithTimeoutCause(a.Context, answerWait, txn.ErrNoAnswer)
	defer cancel()
	for _, on := range aside {
		if err := on.Conn.Carry(ctx, a.Settings); err != nil {
			on.err = err
			return
		}
	}
	a.ask(same(a.text()), aside)
}

// failing reports whether a shard has failed for a reason other than those after which it is sent the definition again.
func (a *alteration) failing() bool {
	return len(a.where(func(err error) bool {
		return err != nil && !isLockWait(err) && a.already(err) == nil && !isNotLocked(err) && !isNotInstant(err)
	})) > 0
}

// isNotLocked reports that the definition needs another table that is not locked, for example the parent of a foreign key.
func isNotLocked(err error) bool {
	const notLocked = 1100
	return hasCode(err, notLocked)
}

// isAbsent reports that the table does not exist.
func isAbsent(err error) bool { return hasCode(err, mysql.ER_NO_SUCH_TABLE) }
