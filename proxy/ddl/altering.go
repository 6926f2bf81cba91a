package ddl

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/txn"
	"locus/router/plan"
)

const (
	// lockWait is how many seconds a shard may wait for the table's metadata lock. Sessions that come later wait behind it. It is the
	// shortest wait that both servers know.
	lockWait = 1
	// lockPause is the pause before the next attempt, in which those sessions continue.
	lockPause = time.Second
	// lockPatience is the longest time of all attempts.
	lockPatience = 10 * time.Minute
	// lockAnswer is the time after which a shard that was asked for a lock counts as lost.
	lockAnswer = lockWait*time.Second + answerWait
	// lockIdle is the number of seconds after which a server releases the locks of a proxy that has sent nothing.
	lockIdle = 60
	// mostRewritten is the size in bytes up to which a table on a shard may be rewritten under a lock, or altered in repeated attempts.
	mostRewritten = 16 << 20
)

const lockWaitTimeout = "lock_wait_timeout"

// held is added to an error of a lock that was not granted.
const held = "; another session has a lock on the table there, such as a long transaction: SHOW PROCESSLIST and information_schema.INNODB_TRX on that shard show it; end it"

// alter makes a definition of an existing table on every shard, as define does, by its plan's course. It requests the table's locks in
// repeated short attempts, because every session that comes later waits behind a lock that is waited for.
func (d *definition) alter() error {
	if d.Plan.Course == plan.AtOnce {
		return d.define()
	}
	a := d.alteration([]string{d.quoted(d.Facts.Statement.Tables[0])})
	if d.Under.Flavor.KeepsTableStatistics() {
		a.attempt = a.attempt.With("information_schema_stats_expiry", "0")
	}
	if err := a.lend(); err != nil {
		return undone(err)
	}
	if d.Plan.Course == plan.Locked {
		return a.locked()
	}
	return a.severally()
}

// alteration returns the alteration of existing tables, by their full names in SQL.
func (d *definition) alteration(tables []string) *alteration {
	a := &alteration{everywhere: &everywhere{definition: d}, tables: tables}
	a.until, a.attempt = d.patience()
	// LOCK TABLES takes locks of InnoDB's own without autocommit.
	a.attempt = a.attempt.With("autocommit", "1").With("wait_timeout", strconv.Itoa(lockIdle))
	return a
}

// patience returns until when the session waits for locks, and the settings of one attempt.
func (d *definition) patience() (until time.Time, attempt *backend.Settings) {
	patience := lockPatience
	if literal, set := d.Settings.Lookup(lockWaitTimeout); set {
		if n, err := strconv.Atoi(literal); err == nil && n > 0 {
			patience = min(patience, time.Duration(n)*time.Second)
		}
	}
	return time.Now().Add(patience), d.Settings.With(lockWaitTimeout, strconv.Itoa(lockWait))
}

// alteration is an alteration in progress. It keeps a connection to each shard.
type alteration struct {
	*everywhere
	tables  []string // the locked tables
	until   time.Time
	attempt *backend.Settings
	first   int // index of the shard that is asked for its lock first, because another session had the table locked there
}

// lend takes a connection to every shard, and waits until each has answered.
func (a *alteration) lend() error {
	for _, shard := range a.catalog.Shards {
		l, err := a.Conns.LendApart(shard, 0, a.attempt)
		if err == nil {
			if err = a.Conns.Answers(l, answerWait); err != nil {
				l.Fail(err)
			}
		}
		if err != nil {
			a.end()
			return err
		}
		a.shards = append(a.shards, onShard{Lease: l})
	}
	return nil
}

// each calls a function for all shards at once, and returns their errors.
func (a *alteration) each(do func(*onShard) error) []error {
	return txn.AtOnce(len(a.shards), func(i int) error { return do(&a.shards[i]) })
}

// awake sends every shard a statement before each attempt. A server ends a connection that is idle for lockIdle, and an attempt sends
// statements only to the shards whose turn it is.
func (a *alteration) awake() (lost error) {
	for i, err := range a.each(func(on *onShard) error { return a.Conns.Answers(on.Lease, answerWait) }) {
		if on := &a.shards[i]; err != nil {
			on.err, lost = err, &stepError{on.Shard, err}
		}
	}
	return lost
}

// freed checks whether a shard's tables can be locked now, and releases the locks.
func (a *alteration) freed(on *onShard) error {
	if err := a.takeLock(on); err != nil {
		return err
	}
	return a.giveLock(on)
}

// takeLock locks the tables on a shard.
func (a *alteration) takeLock(on *onShard) error {
	ctx, cancel := context.WithTimeoutCause(a.Context, lockAnswer, txn.ErrNoAnswer)
	defer cancel()
	_, err := on.Conn.Own().Exec(ctx, "LOCK TABLES "+strings.Join(a.tables, " WRITE, ")+" WRITE")
	on.locked = err == nil
	return err
}

// giveLock releases the locks. A connection that can't be sent that is closed, which releases them too.
func (a *alteration) giveLock(on *onShard) error {
	if !on.locked {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(a.Context), answerWait, txn.ErrNoAnswer)
	defer cancel()
	_, err := on.Conn.Own().Exec(ctx, "UNLOCK TABLES")
	on.locked = err != nil
	return err
}

// end returns the connections with the session's settings. A connection that may still have a lock is closed.
func (a *alteration) end() {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(a.Context), answerWait, txn.ErrNoAnswer)
	defer cancel()
	for _, on := range a.shards {
		switch {
		case on.locked, on.Conn.Usable() && on.Conn.Carry(ctx, a.Settings) != nil:
			on.Lost()
		default:
			on.End(on.err)
		}
	}
}

// large reports whether a table is too large to be rewritten under a lock or in repeated attempts.
func (a *alteration) large() (bool, error) {
	full := a.FullName(a.Facts.Statement.Tables[0])
	ask := "SELECT SUM(COALESCE(DATA_LENGTH + INDEX_LENGTH, 1 << 40)) FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + backend.Quote(full.Schema) + " AND TABLE_NAME = " + backend.Quote(full.Name)
	for i := range a.shards {
		on := &a.shards[i]
		ctx, cancel := context.WithTimeoutCause(a.Context, answerWait, txn.ErrNoAnswer)
		rows, err := on.Conn.Own().Query(ctx, ask)
		cancel()
		if err != nil {
			on.err = err
			return false, &stepError{on.Shard, err}
		}
		if len(rows.Rows) != 1 || len(rows.Rows[0]) != 1 || rows.Rows[0][0] == nil {
			continue // the shard does not have it, and its server reports that
		}
		if n, err := strconv.ParseFloat(string(rows.Rows[0][0]), 64); err != nil || n > mostRewritten {
			return true, nil
		}
	}
	return false, nil
}

// stopped returns why the alteration must stop: the statement was cancelled.
func (a *alteration) stopped() error { return a.Conns.Unwanted() }

// begunNowhere ends an alteration that no shard has begun.
func (a *alteration) begunNowhere(err error) error {
	a.end()
	return a.nothingDone(err)
}

// nothingDone returns the error of an alteration that no shard has begun.
func (a *alteration) nothingDone(err error) error {
	if stopped := a.stopped(); stopped != nil {
		return undone(stopped)
	}
	step, is := errors.AsType[*stepError](err)
	if !is {
		return undone(err)
	}
	out := &Error{Err: unsent(step.err), Before: "on shard " + string(step.shard) + ": ", After: nothingDone}
	if isLockWait(err) {
		out.After = held + nothingDone
	}
	return out
}

// conclude derives the answer.
func (a *alteration) conclude() error {
	a.end()
	ok, passed, err := a.judge()
	a.finish(Outcome{ok, a.done(), passed, err})
	return err
}

func pause(ctx context.Context, d time.Duration) error {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isLockWait reports whether other sessions had the table locked.
func isLockWait(err error) bool { return hasCode(err, mysql.ER_LOCK_WAIT_TIMEOUT) }

// hasCode reports whether an error is a server's with one of some numbers.
func hasCode(err error, codes ...uint16) bool {
	e, ok := errors.AsType[*mysql.MyError](err)
	return ok && slices.Contains(codes, e.Code)
}
